"""What people write in their mails; `{name}` is the task or the meeting."""

from typing import Final

TASK_SUBJECTS: Final = ("Task news: {name}", "Where it stands: {name}")
EVENT_SUBJECTS: Final = ("Meeting notes: {name}", "A word on {name}")

# By the list that the task is in now; neutral enough for any day on which the mail was sent.
TASK_LINES: Final[dict[str, tuple[str, ...]]] = {
    "Backlog": (
        'I am still gathering what "{name}" really needs. Is there anybody I ought to ask?',
        'My first guess for "{name}" is four days of effort. Does that match your view?',
        'Before I begin "{name}", I would like to know which part matters most to you.',
        '"{name}" depends on a decision that is not made yet. A hint from you would save me a detour.',
        'I wrote down the open points of "{name}" and will send them round as soon as they are sorted.',
        'Could we swap the order and let "{name}" wait a little? Something more urgent came up.',
    ),
    "In Progress": (
        'The bulk of "{name}" is in place; what is left are the awkward corners.',
        '"{name}" moves along, slower than I had hoped. I expect the last piece by the end of the sprint.',
        'I found a simpler way to do "{name}" and am trying it out right now.',
        'Two open questions on "{name}" keep me busy. Do you have ten minutes for them?',
    ),
    "In Review": (
        '"{name}" is waiting for a second pair of eyes. Would you take a look, or name somebody who can?',
        'I went through the remarks on "{name}" and answered each of them.',
        'The reviewers of "{name}" disagree on one detail. Your word would settle it.',
        'There is a fresh version of "{name}" to try. Tell me what feels wrong.',
    ),
    "Completed": (
        'The hardest bit of "{name}" is behind me, and nothing broke on the way.',
        'The numbers after "{name}" look better than expected; I will show you when we meet.',
        'I wrote a short page on how "{name}" works, so that others can build on it.',
        '"{name}" went smoother than feared. Thank you for clearing the road.',
    ),
}

# While the sender still has such a meeting before them, and after it.
EVENT_LINES_BEFORE: Final = (
    "I put together a draft agenda for the {name}. Is a point missing?",
    "For the {name} I could use last month's figures. Would you send them over?",
    "Who else should join the {name}? I have two colleagues in mind.",
    "I might be ten minutes late to the {name}; please begin without me.",
    "The {name} comes closer, and I would love to hear beforehand what you expect from it.",
    "I booked a room for the {name} and asked for a second screen.",
)
EVENT_LINES_AFTER: Final = (
    "The {name} left me with three things to do; two of them are done.",
    "I typed up what we agreed at the {name}. Please correct me where I misheard.",
    "One question from the {name} is still open: who tells the customers?",
    "The {name} was worth the hour. Shall we do it again in this form?",
    "Two people could not come to the {name} and asked me for a summary.",
    "After the {name} I changed my mind about the plan. Can we talk it over?",
)

ASIDES: Final = (
    "By the way, the coffee machine on the second floor is back, and it is quieter than the old one.",
    "On another note: the new chairs arrive soon, so please label the one you would like to keep.",
    "Apart from that, our corner of the office had a quiet week, and I used it to tidy the shared folders. "
    "If you miss a file, look into the attic folder first; nothing was thrown away.",
    "And since you asked: yes, I would gladly take part in the photo competition, as long as nobody makes me "
    "stand in front of the camera.",
    "One more thing. The lift is being repaired, so allow a little extra for the stairs when you come up.",
)

GREETINGS_MORNING: Final = ("Hello {owner},", "Good morning {owner},", "Morning {owner},")
GREETINGS_AFTERNOON: Final = ("Hello {owner},", "Good afternoon {owner},", "{owner}, a quick note:")
CLOSINGS: Final = ("Speak soon,", "Kind wishes,", "With thanks,", "All good things,", "Until later,")
