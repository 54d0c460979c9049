"""Names in free text: what is spotted, under which key, and what the proper-noun guard lets through."""

from __future__ import annotations

import pytest

from amos_graph.domain.mentions import NAMES_MAX, Mention, is_name, mentions, name_key, name_keys


def names(*texts: str) -> list[str]:
    """The keys of the names in some texts, in order."""
    return [mention.name for mention in mentions(texts)]


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("Akinoshū Kenji's", "akinoshu kenji"),
        ("AKINOSHU   KENJI", "akinoshu kenji"),
        ("Łódź", "lodz"),
        ("Straße", "strasse"),
        ("The Hague", "hague"),
        ("Louise’s Rock-House", "louise rock house"),
        ("U.S.", "u s"),
        ("ﬁnal Ａmos", "final amos"),
        ("हिन्दी", "हिन्दी"),
        ("…", ""),
    ],
)
def test_a_key_is_free_of_case_accents_punctuation_article_and_possessive(written: str, key: str) -> None:
    """Spellings of one name have one key, and text without a letter has none."""
    assert name_key(written) == key
    assert name_key(key) == key


def test_a_title_answers_to_its_shorter_forms() -> None:
    """Without the bracket that tells it from others, and without the place after the comma."""
    assert name_keys("Johnnycake, West Virginia") == ["johnnycake west virginia", "johnnycake"]
    assert name_keys("Brand (play)") == ["brand play", "brand"]


def test_runs_of_capitals_are_names_with_their_place() -> None:
    """Joining words and initials stay inside, a possessive and a leading word outside."""
    text = "However, G. Stanley Hall's chair at the University of Copenhagen was given to Ana."

    found = mentions([text])

    assert found[0] == Mention("g stanley hall", "G. Stanley Hall's", 9, 0.9)
    assert [(m.name, m.confidence) for m in found[1:]] == [
        ("university of copenhagen", 0.9),
        ("copenhagen", 0.5),
        ("ana", 0.7),
    ]
    assert all(text[m.start : m.start + len(m.span)] == m.span for m in found)


def test_a_long_name_is_also_taken_apart_where_words_join_it() -> None:
    """Either side of `and`, `in` and `for` may be a name of its own; of `X of Y`, only Y is one."""
    assert names("They moved to Australia and New Zealand.") == [
        "australia and new zealand",
        "australia",
        "new zealand",
    ]
    assert "journal" not in names("It is the Journal of Small Business.")


def test_a_lone_word_that_opens_a_sentence_is_no_name_by_its_capital() -> None:
    """It is one if it stands within a sentence too."""
    assert names("Cooking takes hours. It may last. Nobody knows!") == []
    assert names("Neo4j starts slowly. We waited for Neo4j.") == ["neo4j"]


def test_months_days_and_leading_words_name_nothing() -> None:
    """Words that are written with a capital for other reasons."""
    assert names("We met on Monday in June, after This and That, with Dr and Mrs and 1999.") == []


def test_a_short_value_that_is_no_sentence_is_a_name_as_a_whole() -> None:
    """The subject or topic of a memory names it, whether its words have capitals or not."""
    assert mentions(["Riemann integral"])[0] == Mention("riemann integral", "Riemann integral", 0, 1.0)
    assert names("in progress") == []
    assert names("Done.") == []
    assert names("Monday") == []


def test_text_in_capitals_and_scripts_without_them_give_no_names() -> None:
    """They are found by their words; guesses would join everything with everything."""
    assert names("THE SERVER IN THE CELLAR OVERHEATED AGAIN") == []
    assert names("札幌は北海道の都市です。") == []


def test_names_are_bounded_and_told_once() -> None:
    """However long a text is, and however often it repeats a name, with its surest mention."""
    many = " and then ".join(
        f"saw Person{letter}{other}" for letter in "abcdefghij" for other in "abcdefghij"
    )
    assert len(names(many)) == NAMES_MAX
    repeated = mentions(["we met in Paris and Rome", "and Paris again"])
    assert [(m.name, m.confidence) for m in repeated] == [
        ("paris and rome", 0.9),
        ("paris", 0.7),
        ("rome", 0.5),
    ]


@pytest.mark.parametrize(
    "phrase", ["Melanie", "The Hague", "New York City", "University of Göttingen", "eBay"]
)
def test_the_guard_lets_names_through(phrase: str) -> None:
    """One particular thing, by its name alone."""
    assert is_name(phrase)


@pytest.mark.parametrize(
    "phrase",
    ["2 younger kids", "Melanie's kids", "graph database", "my dog Rex", "a Neo4j server", "", "Monday"],
)
def test_the_guard_holds_back_descriptions_and_possessives(phrase: str) -> None:
    """They would act as generic heads that dilute retrieval for everything on a broad topic."""
    assert not is_name(phrase)
