"""Names of meetings; none is part of another, so that a search for one finds only that one."""

from typing import Final

EVENT_NAMES: Final = (
    "Pricing Round Table", "Supplier Terms Call", "Warehouse Walkthrough", "Roadmap Hour", "Hiring Panel",
    "Budget Forecast Check", "incident look-back", "Go or No-go Vote", "Customer Story Circle",
    "Office Move Planning", "Privacy Question Hour", "Brand Voice Practice", "pipeline morning",
    "Partner Portal Demo", "support queue triage", "Travel Policy Chat", "mentoring hour", "Book Club Lunch",
    "Invoice Clean-up", "Accessibility Clinic", "capacity table", "Press Statement Draft",
    "Trade Fair Preparation", "Licence Renewal Talk", "Onboarding Buddy Walk", "Fire Drill Walkabout",
    "newsletter desk", "Show & Tell", "contract reading", "Survey Results Hour", "data quality huddle",
    "Vendor Shortlist", "Phishing Drill", "Holiday Cover Planning", "Coaching Plan Chat", "design critique",
    "Architecture Panel", "code reading circle", "Quarter Goals Check", "expense desk",
    "Portrait Session Planning", "Charity Run Committee", "Webinar Rehearsal", "Customer Visit Planning",
    "Retention Numbers Talk", "kitchen rota vote", "Laptop Swap Slot", "cloud bill check",
    "Payroll Questions", "translation round", "Mobile Strategy Talk", "search ranking huddle",
    "Campaign Kick-off", "Tender Answer Session", "Year Plan Sketch", "Metrics Reading Group",
    "Packaging Board", "delivery route talk", "Complaints Roundup", "walk-in hour",
)  # fmt: skip
