"""Tasks about the mailbox: what to delete, to send, to answer and to pass on."""

from typing import Final

from toolkits.generator.dice import Dice
from toolkits.tasks.calls import delete_mail, forward, reply, send
from toolkits.tasks.drawing import choose, last_of, several
from toolkits.tasks.kinds import Call, Draft, Kind, Mix
from toolkits.tasks.office import Office
from toolkits.tasks.reading import Reading
from toolkits.tasks.records import Mail, Person, quotable
from toolkits.tasks.words import MAILS, REPLIES

__all__ = ["KINDS", "latest_from", "writers"]

_WEEK: Final = 7


def writers(office: Office) -> list[Person]:
    """List the people who have written."""
    have = {mail.sender for mail in office.mails}
    return [person for person in office.people if person.address in have]


def latest_from(office: Office, person: Person) -> Mail:
    """Give the latest mail from somebody."""
    return _latest([mail for mail in office.mails if mail.sender == person.address])


def _latest(mails: list[Mail]) -> Mail:
    return last_of(mails, lambda mail: mail.sent)


def _draw_subject(office: Office, dice: Dice) -> tuple[str, list[Mail]]:
    subject = choose(dice, dict.fromkeys(mail.subject for mail in office.mails if quotable(mail.subject)))
    return subject, [mail for mail in office.mails if mail.subject.lower() == subject.lower()]


def _delete_latest(office: Office, dice: Dice) -> Draft:
    person = choose(dice, writers(office))
    mail = latest_from(office, person)
    return Draft({"person": person.first}, lambda _: [delete_mail(mail.id)])


def _delete_lately(office: Office, dice: Dice) -> Draft:
    person, days = choose(dice, writers(office)), dice.between(2, 10)

    def solve(reading: Reading) -> list[Call]:
        mails = [mail for mail in office.mails if mail.sender == person.address]
        return [delete_mail(mail.id) for mail in mails if reading.lately(mail.sent.date(), days)]

    return Draft({"person": person.first, "days": str(days)}, solve)


def _send(office: Office, dice: Dice) -> Draft:
    person, (subject, body) = choose(dice, office.people), dice.pick(MAILS)
    slots = {"person": person.first, "subject": subject, "body": body}
    return Draft(slots, lambda _: [send(person.address, subject, body)])


def _reply_latest(office: Office, dice: Dice) -> Draft:
    person, body = choose(dice, writers(office)), dice.pick(REPLIES)
    mail = latest_from(office, person)
    return Draft({"person": person.first, "body": body}, lambda _: [reply(mail.id, body)])


def _reply_latest_on(office: Office, dice: Dice) -> Draft:
    subject, mails = _draw_subject(office, dice)
    body, mail = dice.pick(REPLIES), _latest(mails)
    return Draft({"subject": subject, "body": body}, lambda _: [reply(mail.id, body)])


def _forward_week_on(office: Office, dice: Dice) -> Draft:
    subject, mails = _draw_subject(office, dice)
    to = _other_than(office, dice, mails, 1)[0]

    def solve(reading: Reading) -> list[Call]:
        recent = [mail.id for mail in mails if reading.lately(mail.sent.date(), _WEEK)]
        return forward(recent, to.address)

    return Draft({"subject": subject, "to": to.first}, solve)


def _forward_latest_on(office: Office, dice: Dice) -> Draft:
    subject, mails = _draw_subject(office, dice)
    to, mail = _other_than(office, dice, mails, 1)[0], _latest(mails)
    return Draft({"subject": subject, "to": to.first}, lambda _: forward([mail.id], to.address))


def _forward_latest_from(office: Office, dice: Dice) -> Draft:
    person = choose(dice, writers(office))
    mail = latest_from(office, person)
    to = _other_than(office, dice, [mail], 1)[0]
    return Draft({"person": person.first, "to": to.first}, lambda _: forward([mail.id], to.address))


def _forward_to_two(office: Office, dice: Dice) -> Draft:
    person = choose(dice, writers(office))
    mail = latest_from(office, person)
    to, then = _other_than(office, dice, [mail], 2)

    def solve(_: Reading) -> list[Call]:
        return forward([mail.id], to.address) + forward([mail.id], then.address)

    return Draft({"person": person.first, "to": to.first, "then": then.first}, solve)


def _other_than(office: Office, dice: Dice, mails: list[Mail], count: int) -> list[Person]:
    wrote = {mail.sender for mail in mails}
    return several(dice, [person for person in office.people if person.address not in wrote], count)


KINDS: Final = (
    Kind("delete_latest", Mix(one=10), _delete_latest, (
        "Delete the latest mail from {person}.",
        "I do not need {person}'s most recent mail any more. Get rid of it.",
        "Please remove the last mail that {person} sent me.",
    )),
    Kind("delete_lately", Mix(none=1, one=3, two=3, more=3), _delete_lately, (
        "Delete all mails that {person} sent me in the last {days} days.",
        "Clear out whatever came from {person} in the last {days} days.",
        "If {person} has written in the last {days} days, delete those mails; keep the older ones.",
    )),
    Kind("send", Mix(one=10), _send, (
        'Send {person} a mail with the subject "{subject}" and the text "{body}"',
        'Write to {person}. Subject: "{subject}". Text: "{body}"',
        '{person} should get a mail from me, titled "{subject}", that says "{body}"',
    )),
    Kind("reply_latest", Mix(one=10), _reply_latest, (
        'Reply to the latest mail from {person}: "{body}"',
        "Answer {person}'s most recent mail with the text \"{body}\"",
        '{person} is waiting for an answer to the last mail sent to me. Reply "{body}"',
    )),
    Kind("reply_latest_on", Mix(one=10), _reply_latest_on, (
        "Reply to the latest mail with the subject \"{subject}\": \"{body}\"",
        'Answer the most recent mail titled "{subject}", whoever sent it, with "{body}"',
        'There are mails with the subject "{subject}". Reply to the newest of them with the text "{body}"',
    )),
    Kind("forward_week_on", Mix(none=1, one=4, two=5), _forward_week_on, (
        'Forward every mail of the last 7 days with the subject "{subject}" to {to}, the oldest first.',
        "{to} should see what came in over the last 7 days under the subject \"{subject}\": forward those "
        "mails, from the oldest to the newest.",
        'Starting with the oldest, pass all mails titled "{subject}" from the last 7 days on to {to}.',
    )),
    Kind("forward_latest_on", Mix(one=10), _forward_latest_on, (
        'Forward the latest mail with the subject "{subject}" to {to}.',
        '{to} asked for the most recent mail titled "{subject}". Pass it on.',
        'Of all mails with the subject "{subject}", send the newest on to {to} as a forward.',
    )),
    Kind("forward_latest_from", Mix(one=10), _forward_latest_from, (
        "Forward {person}'s latest mail to {to}.",
        "What {person} last wrote me should go to {to} as well: forward that mail.",
        "Let {to} see the most recent mail from {person} by forwarding it.",
    )),
    Kind("forward_to_two", Mix(two=10), _forward_to_two, (
        "Forward {person}'s latest mail to {to} and then to {then}.",
        "Two people need the most recent mail from {person}: forward it to {to} first and to {then} second.",
        "Pass the last mail from {person} on, first to {to}, after that to {then}.",
    )),
)  # fmt: skip
"""The nine kinds."""
