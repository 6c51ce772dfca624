"""Tasks about the customer list: stages, owners, what is new and what can go."""

from collections.abc import Sequence
from typing import Final

from toolkits.generator.dice import Dice
from toolkits.tasks.calls import add_lead, delete_customer, set_customer
from toolkits.tasks.conditions import contacted
from toolkits.tasks.drawing import choose, several
from toolkits.tasks.kinds import Call, Draft, Kind, Mix
from toolkits.tasks.office import Office
from toolkits.tasks.reading import Reading
from toolkits.tasks.records import Customer, Person
from toolkits.tasks.words import LEAD_NAMES

__all__ = ["KINDS", "PRODUCTS", "STAGES", "customers_of", "hand_over"]

STAGES: Final = ("Qualified", "Won", "Lost", "Lead", "Proposal")
PRODUCTS: Final = ("Software", "Hardware", "Services", "Consulting", "Training")


def customers_of(office: Office, person: Person, *stages: str, product: str = "") -> list[Customer]:
    """List somebody's customers in some stages, of one product or of all."""
    return [
        customer
        for customer in office.customers
        if customer.person == person.address
        and customer.status in stages
        and product in ("", customer.product)
    ]


def hand_over(customers: Sequence[Customer], person: Person) -> list[Call]:
    """Give customers to somebody."""
    return [set_customer(customer.id, "assigned_to_email", person.address) for customer in customers]


def _draw_two_owners(office: Office, dice: Dice) -> list[Person]:
    return several(dice, office.people_with(office.customers), 2)


def _set_stage(office: Office, dice: Dice) -> Draft:
    customer, stage = choose(dice, office.clear_customers), dice.pick(STAGES)
    slots = {"customer": customer.name, "stage": stage}
    return Draft(slots, lambda _: [set_customer(customer.id, "status", stage)])


def _delete(office: Office, dice: Dice) -> Draft:
    customer = choose(dice, office.clear_customers)
    return Draft({"customer": customer.name}, lambda _: [delete_customer(customer.id)])


def _add_lead(office: Office, dice: Dice) -> Draft:
    person = choose(dice, office.people_with(office.customers))
    name, product = dice.pick(LEAD_NAMES), dice.pick(PRODUCTS)
    slots = {"name": name, "person": person.first, "product": product}
    return Draft(slots, lambda _: [add_lead(name, person.address, product)])


def _reassign(office: Office, dice: Dice) -> Draft:
    customer = choose(dice, office.clear_customers)
    to = choose(dice, office.people_with(office.customers))
    return Draft({"customer": customer.name, "to": to.first}, lambda _: hand_over([customer], to))


def _reassign_leads(office: Office, dice: Dice) -> Draft:
    (person, to), product = _draw_two_owners(office, dice), dice.pick(PRODUCTS)
    slots = {"person": person.first, "to": to.first, "product": product}
    return Draft(slots, lambda _: hand_over(customers_of(office, person, "Lead", product=product), to))


def _reassign_two_stages(office: Office, dice: Dice) -> Draft:
    (person, to), product = _draw_two_owners(office, dice), dice.pick(PRODUCTS)
    one, other = dice.sample(STAGES, 2)
    slots = {"person": person.first, "to": to.first, "product": product, "one": one, "other": other}
    return Draft(slots, lambda _: hand_over(customers_of(office, person, one, other, product=product), to))


def _delete_by_stage(office: Office, dice: Dice) -> Draft:
    person = choose(dice, office.people_with(office.customers))
    stage, product = dice.pick(STAGES), dice.pick(PRODUCTS)
    found = customers_of(office, person, stage, product=product)
    slots = {"person": person.first, "stage": stage, "product": product}
    return Draft(slots, lambda _: [delete_customer(customer.id) for customer in found])


def _old_proposals_lost(office: Office, dice: Dice) -> Draft:
    person, weeks = choose(dice, office.people_with(office.customers)), dice.between(2, 8)

    def solve(reading: Reading) -> list[Call]:
        proposals = customers_of(office, person, "Proposal")
        old = [customer for customer in proposals if not contacted(reading, customer, 7 * weeks)]
        return [set_customer(customer.id, "status", "Lost") for customer in old]

    return Draft({"person": person.first, "weeks": str(weeks)}, solve)


KINDS: Final = (
    Kind("set_stage", Mix(one=10), _set_stage, (
        "Set the status of our customer {customer} to {stage}.",
        "{customer} is in the wrong stage: it should be {stage}. Please correct the customer list.",
        "From today on the customer {customer} counts as {stage}. Change the status accordingly.",
    )),
    Kind("delete", Mix(one=10), _delete, (
        "Delete the customer {customer}.",
        "{customer} asked us to forget them. Take them off the customer list.",
        "We no longer work with {customer}. Please remove this customer.",
    )),
    Kind("add_lead", Mix(one=10), _add_lead, (
        "Add {name} as a new lead of {person}'s, interested in {product}.",
        "{person} met {name} at a fair. Put {name} on the customer list: a lead, interested in {product}, "
        "assigned to {person}.",
        "There is a new lead called {name} who wants to know about {product}. Enter the lead for {person}.",
    )),
    Kind("reassign", Mix(one=10), _reassign, (
        "Reassign the customer {customer} to {to}.",
        "{to} takes over {customer} from now on. Change it in the customer list.",
        "Please hand our customer {customer} over to {to}.",
    )),
    Kind("reassign_leads", Mix(none=1, one=2, two=3, more=4), _reassign_leads, (
        "Give all of {person}'s leads that are interested in {product} to {to}.",
        "{person} has too much to do: {to} takes over every one of {person}'s customers in the stage Lead "
        "with an interest in {product}.",
        "Reassign {person}'s {product} leads, and no other customers, to {to}.",
    )),
    Kind("reassign_two_stages", Mix(one=1, two=3, more=6), _reassign_two_stages, (
        "Give those of {person}'s customers to {to} that are interested in {product} and whose status is "
        "{one} or {other}.",
        "{to} is to look after {person}'s {product} customers in the stages {one} and {other}. Reassign "
        "them.",
        "Hand over from {person} to {to}: all customers with an interest in {product} that are either {one} "
        "or {other}.",
    )),
    Kind("delete_by_stage", Mix(none=2, one=4, two=2, more=2), _delete_by_stage, (
        "Delete all of {person}'s customers with the status {stage} that are interested in {product}.",
        "Clean up {person}'s part of the customer list: whoever is in the stage {stage} with an interest in "
        "{product} can go.",
        "If {person} has any {product} customers in the stage {stage}, remove them from the list.",
    )),
    Kind("old_proposals_lost", Mix(none=2, one=3, two=2, more=3), _old_proposals_lost, (
        "Set those of {person}'s customers to Lost that are in the stage Proposal and have had no contact "
        "with us in the last {weeks} weeks.",
        "Which of {person}'s proposals had their last contact more than {weeks} weeks ago? Mark them all as "
        "Lost.",
        "Any customer of {person}'s with the status Proposal whom nobody has contacted in the last {weeks} "
        "weeks is Lost; change the status.",
    )),
)  # fmt: skip
"""The eight kinds."""
