"""Names of tasks by board; none is part of another, so that a search for one finds only that one."""

from typing import Final

TASK_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "Back end": (
        "Cache exchange rates for invoices", "Split the order queue by region",
        "Retry failed webhook deliveries", "Archive old audit records", "Rotate signing keys every month",
        "Limit request rate per account", "Move image storage to buckets", "Log slow report jobs",
        "Encrypt exported backups", "Merge duplicate contact records", "Stream large downloads in chunks",
        "Validate tax numbers on entry", "Schedule nightly stock counts", "Trace requests across services",
        "Shrink the session store", "Replace the letter queue worker", "Index delivery addresses",
        "Count licences per tenant", "Paginate the supplier listing", "Drop unused feature flags",
        "Store consent history", "Cut cold start delay", "Import price lists from spreadsheets",
        "Publish shipment messages", "Round currency totals correctly", "Lock stock during payment",
        "Purge expired invitations", "Mirror the catalogue overnight", "Compare webhook signatures",
        "Sort hits by freshness",
    ),
    "Front end": (
        "Keep filters after reload", "Show upload percentage", "Load thumbnails lazily",
        "Announce errors to screen readers", "Remember the chosen language", "Collapse the side panel",
        "Highlight unread conversations", "Let tables scroll sideways", "Print invoices without menus",
        "Warn before leaving a draft", "Swap the date chooser", "Group alerts by topic",
        "Animate the basket counter", "Offer keyboard shortcuts", "Hide empty widgets",
        "Stretch charts on wide monitors", "Undo accidental deletions", "Preview attachments inline",
        "Reorder favourites by dragging", "Paste images into comments", "Trim the script bundle",
        "Autosave long questionnaires", "Translate currency symbols", "Pin columns while scrolling",
        "Resize text without breakage", "Search within dropdown lists", "Flag fields with typos",
        "Open help beside the editor", "Cross-fade between tabs", "Skip the welcome tour",
    ),
    "Design": (
        "Sketch a calmer start screen", "Draw icons for shipping states", "Choose a serif for headlines",
        "Redraw the onboarding cartoon", "Prepare the winter banner", "Tidy the button family",
        "Storyboard the refund journey", "Mock up the kiosk layout", "Pick colours for warnings",
        "Illustrate the error pages", "Lay out the annual booklet", "Design badges for partners",
        "Test contrast of muted greys", "Simplify the seat map", "Shape the loyalty card",
        "Map the cancellation route", "Photograph the sample boxes", "Polish the slide template",
        "Compose the trade stand wall", "Write captions for empty lists", "Model the parcel sticker",
        "Refine spacing on receipts", "Plan the motion guide", "Outline the voice guide",
        "Paint avatars for newcomers", "Adapt posters for billboards", "Measure thumb reach on phones",
        "Arrange the footer links", "Rework the rating stars", "Collect moods for spring",
    ),
}  # fmt: skip
