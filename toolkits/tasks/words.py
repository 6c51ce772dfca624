"""What requests bring along: names for what is new, and the text of mails."""

from typing import Final

__all__ = ["BODIES", "EVENT_NAMES", "LEAD_NAMES", "MAILS", "REPLIES", "TASK_NAMES"]

EVENT_NAMES: Final = (
    "Harbour Plan Review", "Open Questions Round", "Spring Line Preview", "Numbers at Noon", "Handover Talk",
    "Shelf Label Workshop", "Risk List Update", "Visitor Day Rehearsal", "Claims Desk Check", "Budget Corner",
    "Winter Roster Talk", "Prototype Show",
)  # fmt: skip

TASK_NAMES: Final = (
    "Replace the worn welcome banner", "Check the backup of the parcel log", "Rewrite the refund hints",
    "Clean up the unused image sizes", "Draft a page on repairs", "Speed up the monthly overview",
    "Fix the crooked footer on tablets", "Collect feedback on the price page", "Renew the test certificates",
    "Tune the reminder timing", "List all broken help links", "Prepare samples for the spring fair",
)  # fmt: skip

LEAD_NAMES: Final = (
    "Aurelio Brightwater", "Cordelia Mapplebeck", "Dimitar Ostrowe", "Elspeth Quennell", "Fabiola Treherne",
    "Gareth Lindqvarn", "Henrike Osmotherley", "Ilario Penhallow", "Jocasta Verhagen", "Kilian Roebottom",
    "Lavinia Starkweather", "Matthias Culpepper",
)  # fmt: skip

MAILS: Final = (
    ("Room for Thursday", "The large room is booked for us on Thursday. Please bring the signed list."),
    ("Keys to the archive", "The keys to the archive are at the front desk now. Return them by Friday."),
    ("New phone list", "The new phone list is out. Tell me if your number is wrong."),
    ("Parking next week", "The yard is being paved next week, so please park across the street."),
    ("Photos of the stand", "I liked the photos of the stand a lot. May I use two of them in the booklet?"),
    ("Order of the day", "Could you send me your points for the order of the day? Two lines are enough."),
    ("Spare laptop", "There is a spare laptop in my office. Pick it up whenever you like."),
    ("Visit on Tuesday", "The visitors come on Tuesday after lunch. I count on you for the tour."),
)  # fmt: skip
"""Subjects and bodies that go together, for any occasion."""

REPLIES: Final = (
    "Thank you, that helps. I will come back to it on Monday.", "Good news, well done!",
    "I have read it and agree with every point.", "Please go ahead as you suggest.",
    "Let us talk about it when we next meet.", "Noted. I will pass it on to the others.",
)  # fmt: skip

BODIES: Final = {
    "met": ("Catching up", "We have not met in a while. Is there anything you need from me?"),
    "overdue": ("Overdue tasks", "Some of your tasks are past their due date. Can I help you with them?"),
    "thanks": ("Well done", "None of your tasks is overdue. Thank you for keeping up!"),
    "figures": ("Figures of the site", "Please have a look at the latest figures of our site."),
    "host": ("Before we start", "Looking forward to our meeting. Please send me your points beforehand."),
    "cancelled": ("Meeting cancelled", "I have to cancel our next meeting. I will suggest another day soon."),
}
"""Subjects and bodies for one occasion each."""
