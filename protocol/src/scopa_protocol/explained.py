"""Every variant and every rule in a sentence or two: the one source for clients and for docs."""

from typing import Final

from msgspec import Struct


class Variant(Struct, frozen=True):
    """A preset in words."""

    name: str
    title: str
    text: str


class Rule(Struct, frozen=True):
    """A field of the rules in words; `values` explains those that are named."""

    field: str
    text: str
    values: dict[str, str] = {}


VARIANTS: Final = (
    Variant(
        "scopa",
        "Scopa",
        "The game everybody knows: three cards each, four on the table, capture by equal value or "
        "by sum, a point for each sweep.",
    ),
    Variant(
        "scopone",
        "Scopone",
        "Four people in two pairs; nine cards each at once and four on the table.",
    ),
    Variant(
        "scopone_scientifico",
        "Scopone scientifico",
        "Four people in two pairs; all forty cards dealt, ten each, and an empty table: nothing "
        "is left to luck after the deal.",
    ),
    Variant(
        "scopa_dassi",
        "Scopa d'assi",
        "A played ace takes the whole table, which is no scopa; if an ace lies there, it takes "
        "that ace alone.",
    ),
    Variant(
        "asso_piglia_tutto",
        "Asso piglia tutto",
        "A played ace takes the whole table and scores a scopa for it; if an ace lies there, it "
        "takes that ace alone.",
    ),
    Variant(
        "napola",
        "Napola",
        "The run of coins from the ace upwards scores as many points as it is long, from three "
        "on; all ten coins win the match. To 21.",
    ),
    Variant(
        "scopone_trentino",
        "Scopone trentino",
        "Scopone with the napola: nine cards each and four on the table, and the run of coins "
        "counts. To 21.",
    ),
    Variant(
        "milanese",
        "Scopone milanese",
        "Ten cards each, a sweeping ace that is no scopa, and the napola. To 21.",
    ),
    Variant(
        "re_bello",
        "Re bello",
        "Scopa with one point more: the king of coins is worth as much as the settebello.",
    ),
    Variant(
        "cosentina",
        "Cosentina",
        "Scopa with one point more: the seven of cups, as in Cosenza.",
    ),
    Variant(
        "napoletana",
        "Napoletana",
        "Scopa with one point more for whoever takes all four sevens, as in Naples.",
    ),
    Variant(
        "quindici",
        "Scopa a quindici",
        "A card takes what makes fifteen with it, itself included; equal values don't match.",
    ),
    Variant(
        "escoba",
        "Escoba",
        "The Spanish fifteen: an opening table of fifteen or thirty is swept by the dealer at "
        "once. To 21.",
    ),
    Variant(
        "cirulla",
        "Cirulla",
        "The Genoese game: equal cards, sums and fifteens; aces sweep; low hands and threes of a "
        "kind are declared; the seven of cups is the matta. To 51.",
    ),
    Variant(
        "chkobba",
        "Chkobba",
        "The Tunisian game: the leader may keep or refuse the first card; most sevens make the "
        "bermila. To 21.",
    ),
    Variant(
        "libica",
        "Libica",
        "A sweep is worth as many points as it has cards, and whoever takes all ten coins wipes "
        "out the others' scores.",
    ),
    Variant(
        "a_perdere",
        "Scopa a perdere",
        "The other way round: when somebody reaches 21, the lowest score wins.",
    ),
)

RULES: Final = (
    Rule("variant", "The preset that the rules started from."),
    Rule("players", "How many people play, 2 to 6."),
    Rule(
        "sides",
        "How many sides score: each alone, two pairs or teams at four or six, three pairs at six. "
        "Partners sit alternately.",
    ),
    Rule(
        "deck",
        "What the cards 8, 9 and 10 are called and how suits are drawn.",
        {
            "italian": "fante, cavallo, re",
            "french": "jack, queen, king; coins are diamonds, cups hearts, clubs the clubs",
            "french_pips": "eights, nines and tens of a French pack",
            "tunisian": "queen, jack, king",
        },
    ),
    Rule(
        "hand",
        "Cards dealt to each player at a time. The cards that don't divide open the table.",
    ),
    Rule(
        "void_deal",
        "Which opening table is thrown in and dealt again.",
        {
            "three_kings": "three or four kings",
            "two_aces": "two aces or more",
            "never": "none",
        },
    ),
    Rule(
        "void_dealer",
        "Who deals after a void deal.",
        {"same": "the same dealer", "next": "the next player"},
    ),
    Rule(
        "first_card_choice",
        "The leader sees the deal's first card and keeps it, or has it laid on the table.",
    ),
    Rule(
        "opening_sweep",
        "An opening table of 15 goes to the dealer as a scopa, one of 30 as two.",
    ),
    Rule(
        "capture",
        "What a card may take.",
        {
            "sum": "one card of its value, or several that add up to it",
            "fifteen": "cards that make fifteen with it",
            "sum_or_fifteen": "a card of its value, a sum, or a fifteen",
        },
    ),
    Rule("equal_first", "If a card of equal value can be taken, a sum may not."),
    Rule("fewest", "Of several sums or fifteens, only those with the fewest cards may be taken."),
    Rule(
        "must_capture",
        "A card that can take something must. Off: it may be laid on the table instead.",
    ),
    Rule("ace_sweeps", "A played ace takes the whole table, or an ace that lies there, alone."),
    Rule("ace_scopa", "The ace's sweep counts as a scopa."),
    Rule(
        "ace_on_ace",
        "What a sweeping ace does when an ace lies on the table.",
        {"takes_ace": "it takes that ace alone", "sweeps": "it takes everything all the same"},
    ),
    Rule(
        "ace_on_empty",
        "What a sweeping ace does when the table is empty.",
        {"stays": "it stays on the table", "takes_itself": "it goes to its player's own pile"},
    ),
    Rule("last_card_scopa", "A sweep with the deal's very last card counts as a scopa, too."),
    Rule("leftovers_scopa", "Whoever gets the cards left at the end has a point for it."),
    Rule(
        "scopa_value",
        "What a scopa is worth.",
        {
            "one": "one point",
            "card": "the value of the card that swept",
            "cards": "the number of cards in it, the played one included",
        },
    ),
    Rule(
        "napola",
        "Ace, two and three of coins in one pile.",
        {
            "off": "worth nothing by themselves",
            "run": "worth the length of the unbroken run from the ace",
            "three": "worth three points, however long the run",
        },
    ),
    Rule("napola_cap", "The most that a napola is worth, 3 to 10."),
    Rule("grande", "Fante, cavallo and re of coins in one pile: five points."),
    Rule("re_bello", "The king of coins: one point."),
    Rule("settecoppe", "The seven of cups: one point."),
    Rule("all_sevens", "All four sevens in one pile: one point."),
    Rule(
        "ties",
        "Who scores when the most cards, coins or the best primiera are shared.",
        {"nobody": "nobody", "everyone": "each of those who share it"},
    ),
    Rule(
        "primiera",
        "How the primiera is found.",
        {
            "scale": "best card of each suit: 7 is 21, 6 is 18, ace 16, 5 is 15, 4 is 14, 3 is 13, "
            "2 is 12, a face 10",
            "faces_zero": "the same, with faces worth nothing",
            "sevens": "most sevens; if they are shared most sixes, then aces, fives and so on",
            "sevens_sixes": "most sevens; if they are shared most sixes (the bermila)",
            "off": "it isn't counted",
        },
    ),
    Rule(
        "primiera_short",
        "What of a side that lacks a suit.",
        {"out": "it can't have the primiera", "counted": "it sums what it has"},
    ),
    Rule(
        "coins_reset",
        "Taking at least so many coins in a deal sets the others' scores to nothing; 0 is off, "
        "else 6 to 10.",
    ),
    Rule(
        "all_coins",
        "What taking all ten coins in a deal means.",
        {"nothing": "nothing by itself", "wins_match": "the match is won"},
    ),
    Rule("cappotto", "Seven points or more while every other side has none win the match."),
    Rule("target", "The score that wins, if it is alone at the top, 1 to 101."),
    Rule("reverse", "When somebody reaches the target, the lowest score wins."),
    Rule(
        "declarations",
        "Before its first card of a batch a player may declare a hand of nine or less (three "
        "points) or three of a kind (ten points), and lays it open.",
    ),
    Rule("matta", "The seven of cups stands for another value where that makes a bonus."),
    Rule("declare_both", "A hand that is low and three of a kind may be declared as both: 13."),
)
