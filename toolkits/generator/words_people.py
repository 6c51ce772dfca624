"""Names for the people of the workplace; all ASCII, since they become addresses."""

from typing import Final

# Long and unusual on purpose: a first name must never turn up inside any other text of a data set, so that
# searching for it finds that person and nobody else.
FIRST_NAMES: Final = (
    "Ottoline", "Bartek", "Ngozi", "Tevita", "Yaroslav", "Ximena", "Hakon", "Isolde", "Zubair", "Pilvi",
    "Wanjiru", "Thandeka", "Gwendal", "Mireille", "Rukmini", "Sigrun", "Tomasz", "Eleni", "Farrukh", "Keoni",
    "Lucjan", "Noriko", "Quillon", "Ragnhild", "Sunniva", "Umberto", "Vasilis", "Wiremu", "Yevgenia",
    "Zdenka", "Branka", "Cosmin", "Dagny", "Edvard", "Fumiko", "Gintaras", "Hedvig", "Ignacy", "Jelka",
    "Oyelaran",
)  # fmt: skip

SURNAMES: Final = (
    "Brandvold", "Kowalik", "Adeyinka", "Fonoti", "Hrytsenko", "Villaseca", "Lindmark", "Marchesi", "Okonjo",
    "Pereiro", "Quintrell", "Rautavaara", "Sandoval", "Tuimavave", "Ulvestad", "Vanterpool", "Wickremer",
    "Yamauchi", "Zielonka", "Ashdown", "Bellweather", "Carstairs", "Delacourt", "Espinosa", "Fairbrother",
    "Grigorescu", "Halvorsen", "Iyengar", "Jankauskas", "Kiplagat", "Lombardo", "Mutasa", "Nakagawa",
    "Ostrander", "Papadakis", "Rasmussen", "Stavros", "Teodorescu", "Underwood", "Verhoeven",
)  # fmt: skip

WORKPLACES: Final = (
    "larkfield", "copperbay", "stonemill", "windharbour", "ferncroft", "saltmarsh", "highmoor", "oakbridge",
    "silverdale", "brookhaven", "northgable", "tidewell",
)  # fmt: skip
