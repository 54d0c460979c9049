"""Cues: which words, names and ids are looked up, and that none of them is search syntax."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amos_graph.queries.recall.cues import (
    CLASSES_PER_QUERY,
    TERMS_MAX,
    joined,
    names_of,
    terms_of,
    text_queries,
    tokens_of,
)

#: A query that is made of markers, fields and quoted phrases alone.
_SHAPE = re.compile(r'(\+|\(|\)| |[a-z_]+:"(?:[^"\\]|\\.)*")*')


def test_question_words_are_not_cues() -> None:
    """What only asks or joins is left out, and what is asked for remains."""
    assert terms_of(["What is the user working on in Amos?"]).tokens == ("user", "working", "amos")


def test_a_cue_of_stop_words_alone_is_looked_up_as_it_is() -> None:
    """Where there is nothing else, the stop words count."""
    assert terms_of(["to be or not to be"]).tokens == ("to", "be", "or", "not")


def test_words_are_compared_folded() -> None:
    """Case, full-width letters and ligatures make no difference."""
    assert tokens_of("DANIEL Ｄａｎｉｅｌ Straße ﬁne") == ["daniel", "daniel", "strasse", "fine"]


def test_scripts_without_spaces_are_compared_letter_by_letter() -> None:
    """A word inside a run of Japanese is found."""
    assert set(tokens_of("東京")) <= set(tokens_of("昨日東京に行った"))


def test_words_joined_by_signs_are_looked_up_whole_and_in_parts() -> None:
    """The text index keeps `install.sh` as one word, and so does one of the phrases."""
    terms = terms_of(["install.sh | bash"])

    assert terms.tokens == ("install", "sh", "bash")
    assert {"install.sh", "install", "sh", "bash"} == set(terms.phrases)


def test_words_beyond_the_limit_are_counted() -> None:
    """The first sixty-four words are looked up; the number of the others is known."""
    terms = terms_of([" ".join(f"word{n}" for n in range(100))])

    assert len(terms.tokens) == TERMS_MAX
    assert terms.left_out == 100 - TERMS_MAX
    assert joined(terms, terms).tokens == terms.tokens


def test_names_are_runs_of_words_with_and_without_what_a_sentence_adds() -> None:
    """Punctuation and a possessive do not hide a name."""
    found = names_of(["Where does Ada Lovelace's friend live?"])

    forms = {form for stretch in found.stretches for form in stretch.forms}
    assert {"ada lovelace", "live"} <= forms
    assert "where" not in forms


def test_of_an_entity_id_only_the_name_is_a_word() -> None:
    """The kind in an id would match every entity of that kind."""
    assert terms_of(["tell me about ent:person:ada_lovelace"]).tokens == ("ada", "lovelace")


def test_ids_that_are_written_out_are_taken_as_ids() -> None:
    """Entity ids and atom ids stand in a cue as themselves, whatever follows them."""
    found = names_of(["Compare belief-1 with ent:project:amos, please."])

    assert found.entity_ids == ("ent:project:amos",)
    assert "belief-1" in found.atom_ids


@pytest.mark.case("C53")
@pytest.mark.reliability("T23")
@given(st.text(max_size=200))
def test_whatever_is_written_a_query_holds_quoted_phrases_only(text: str) -> None:
    """No text escapes its quotes: every query has the one shape."""
    for query in text_queries("k", terms_of([text]), ["live"], ["c"]):
        assert _SHAPE.fullmatch(query), query


def test_many_access_classes_make_several_queries() -> None:
    """No query has more clauses than the index takes."""
    classes = [f"c{n}" for n in range(CLASSES_PER_QUERY + 1)]
    queries = text_queries("k", terms_of(["amos"]), ["live"], classes)

    assert [query.count("access_class:") for query in queries] == [CLASSES_PER_QUERY, 1]


def test_without_words_states_or_classes_there_is_no_query() -> None:
    """What cannot find anything is not asked."""
    terms = terms_of(["amos"])

    assert text_queries("k", terms_of(["* ? !"]), ["live"], ["c"]) == []
    assert text_queries("k", terms, [], ["c"]) == []
    assert text_queries("k", terms, ["live"], []) == []
