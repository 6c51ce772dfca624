"""Names, companies and remarks for the customer list."""

from typing import Final

GIVEN_NAMES: Final = (
    "Abigél", "Björn", "Céleste", "Dorte", "Émile", "Frøya", "Georgios", "Héctor", "Ingrid", "Jürgen",
    "Katarzyna", "Lorcan", "Máire", "Niamh", "Oisín", "Prisca", "Rosalba", "Søren", "Tancredi", "Ulrike",
    "Violeta", "Wendelin", "Yolanda", "Zoltán", "Agathe", "Bernadette", "Clemens", "Desmond", "Evangeline",
    "Florian", "Gustavo", "Harriet", "Imogen", "Josephine", "Kirsten", "Leopold", "Marguerite", "Nigel",
    "Ophelia", "Percival", "Rosamund", "Sebastian", "Theodora", "Ursula", "Valentin", "Winifred",
)  # fmt: skip

FAMILY_NAMES: Final = (
    "Achterberg", "Blåsjö", "Castellanos", "Dąbek", "Engström", "Fernández-Luz", "Gallagher", "Hübscher",
    "Ibáñez", "Jeppesen", "Kettlewell", "Löfgren", "Montague", "Nørgaard", "Oduya", "Pemberton", "Quarshie",
    "Rosenthal", "Šimek", "Threlfall", "Uzoma", "Vandermeer", "Whitlock", "Yilmazer", "Zetterlund",
    "Applegarth", "Birtwistle", "Chaudhary", "Dunleavy", "Entwistle", "Featherstone", "Goldsworthy",
    "Hathersage", "Inchbald", "Jellicoe", "Kirkbride", "Lavoisy", "Merriweather", "Netherwood", "Ollerton",
    "Postlethwaite", "Ravensdale", "Satterfield", "Tattersall", "Umfreville", "Wolstenholme",
)  # fmt: skip

# Letters that an address cannot carry, and what stands for them there.
ASCII_LETTERS: Final = str.maketrans(
    {
        "é": "e", "ö": "o", "É": "e", "ø": "o", "ü": "u", "á": "a", "í": "i", "å": "a", "ą": "a", "ñ": "n",
        "Š": "s",
    }
)  # fmt: skip

COMPANY_STEMS: Final = (
    "birchlane", "fjordside", "mossgate", "plumtree", "ironquay", "larchhill", "pebbleton", "quartzbeck",
    "rookswood", "sandreed", "thistledown", "umberfield", "velvetmoor", "wrenfold", "yarrowby", "amberleigh",
    "bramblecote", "cloverfen", "duskwater", "elderholt",
)  # fmt: skip

COMPANY_TRADES: Final = (
    "bakery", "optics", "tiles", "freight", "gardens", "textiles", "clinics", "press", "glassworks", "boats",
    "toys", "coffee", "schools", "printing", "timber", "museums",
)  # fmt: skip

REMARKS: Final = (
    "Rang to say hello.", "Sent a price sketch.", "Asked for a trial.", "Wants a second quote.",
    "Left a voicemail.", "Walked through the product.", "Shared two case studies.", "Budget still open.",
    "Out of office until further notice.", "Met at their premises.", "Compared us with another vendor.",
    "Forwarded terms to their lawyers.", "Happy with the pilot.", "Asked about delivery dates.",
)  # fmt: skip
