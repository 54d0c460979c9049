"""The examples of the OpenAPI document; a test sends each of them, in this order, to a fresh tenant."""

from __future__ import annotations

from typing import Any, Final

_EVENT: Final = {
    "evidence_id": "evd_turn_17",
    "source_type": "conversation_turn",
    "source_ref": "archive://session/42/turn/17",
    "payload": {"speaker": "user", "text": "I moved the release to Friday, because Mira is away."},
}
_BELIEF: Final = {
    "id": "belief:release-day",
    "type": "belief",
    "payload": {
        "subject": "ent:project:amos",
        "relation": "rel:release_day",
        "object": "Friday",
        "modality": "observed",
    },
    "evidence_refs": ["evd_turn_17"],
    "confidence": {"level": "high", "score": 0.9, "basis": {"source_type": "explicit_user_statement"}},
}
_SEMANTIC: Final = {
    "id": "semantic:mira-is-away",
    "type": "semantic",
    "payload": {"statement": "Mira is away until Thursday."},
    "evidence_refs": ["evd_turn_17"],
    "confidence": {"level": "medium"},
}
_CAPABILITY: Final = {
    "id": "capability:schedules-releases",
    "type": "capability",
    "payload": {
        "subject_agent": "ent:agent:planner",
        "capability": "schedules releases",
        "capability_type": "planning",
        "availability": "available",
    },
    "evidence_refs": ["evd_turn_17"],
    "confidence": {"level": "medium"},
}
_LIMITATION: Final = {
    "id": "limitation:no-calendar",
    "type": "limitation",
    "payload": {
        "subject_agent": "ent:agent:planner",
        "limitation": "does not see calendars",
        "limitation_type": "permission",
    },
    "evidence_refs": ["evd_turn_17"],
    "confidence": {"level": "high"},
}
_NARRATIVE: Final = {
    "id": "art_planner_today",
    "subject_agent": "ent:agent:planner",
    "narrative": "I schedule releases. I do not see calendars, so I ask who is away.",
    "narrative_scope": "what I do in this project",
    "source_capability_refs": ["capability:schedules-releases"],
    "source_limitation_refs": ["limitation:no-calendar"],
    "source_counterevidence_refs": [],
    "balance_report": {"capabilities": 1, "limitations": 1, "failures": 0},
}
_RELEASE_DAY: Final = {
    "id": "rel:release_day",
    "kind": "payload",
    "description": "is released on",
    "single_valued": True,
}
_SUPPORTS: Final = {
    "source_ref": "semantic:mira-is-away",
    "target_ref": "belief:release-day",
    "relation": "rel:supports",
    "evidence_refs": ["evd_turn_17"],
    "confidence": {"level": "medium"},
}


#: Operation → examples as OpenAPI has them; of a GET, the values of its parameters.
def _judged(outcome: str) -> dict[str, Any]:
    return {
        "proposal_ref": f"belief:{outcome}",
        "adjudication_ref": f"adjudication:{outcome}",
        "expected_version": 1,
    }


EXAMPLES: Final[dict[str, dict[str, Any]]] = {
    "events:capture": {
        "one event": {
            "value": {
                "request_id": "req_capture_1",
                "idempotency_key": "session-42-turn-17",
                "payload": {"event": _EVENT},
            }
        }
    },
    "atoms:commit": {
        "a relation, two atoms and the edge between them": {
            "value": {
                "request_id": "req_commit_1",
                "idempotency_key": "session-42-turn-17-beliefs",
                "expected_versions": {"belief:release-day": 0},
                "payload": {
                    "relations": [_RELEASE_DAY],
                    "atoms": [_BELIEF, _SEMANTIC],
                    "edges": [_SUPPORTS],
                },
            }
        },
        "what an agent can and cannot do": {"value": {"payload": {"atoms": [_CAPABILITY, _LIMITATION]}}},
    },
    "artifacts:record": {
        "a self-narrative": {
            "value": {"idempotency_key": "planner-today", "payload": {"artifact": _NARRATIVE}}
        }
    },
    "artifacts:get": {"the newest version": {"value": {"payload": {"artifact_id": "art_planner_today"}}}},
    "artifacts:expire": {"all that is due": {"value": {"payload": {}}}},
    "atoms:propose": {
        "a candidate": {
            "value": {
                "payload": {
                    "candidates": [
                        {
                            "type": "semantic",
                            "payload": {"statement": "Releases slip when Mira is away."},
                            "evidence_refs": ["evd_turn_17"],
                            "confidence": {"level": "low"},
                        }
                    ]
                }
            }
        }
    },
    "atoms:get": {
        "the newest version": {"value": {"payload": {"atom_id": "belief:release-day"}}},
        "as it was known before anything was": {
            "value": {"payload": {"atom_id": "belief:release-day", "as_of_version": 0}}
        },
    },
    "provenance:analyze": {
        "what a belief rests on": {"value": {"payload": {"atom_ref": "belief:release-day", "max_depth": 8}}}
    },
    "atoms:list": {"types": ["belief"], "limit": 20},
    "verify": {"first": 1, "last": 1},
    "packets:retrieve": {
        "a question": {
            "value": {
                "payload": {
                    "cues": ["When is the release?"],
                    "target_processor": "reasoner",
                    "max_items": 5,
                }
            }
        },
        "with the task at hand, for a planner": {
            "value": {
                "payload": {
                    "cues": ["release"],
                    "task_context": {
                        "task_type": "release",
                        "constraints": ["nobody works on Sunday"],
                        "risk_level": "medium",
                        "time_horizon": "short",
                    },
                    "attention_context": {
                        "focus_terms": ["Mira"],
                        "suppress_memory_types": ["episode"],
                        "counterevidence_required": True,
                        "novelty_preference": 0.2,
                    },
                    "payload_filter": {"subject": "ent:project:amos"},
                    "rendering_target": "planner_state",
                }
            }
        },
        "skills, within a budget and with some of the payload": {
            "value": {
                "payload": {
                    "cues": ["release"],
                    "retrieval_mode": "skill_discovery",
                    "result_payload_filter": ["name", "steps", "object"],
                    "token_or_byte_budget": {"tokens": 2000},
                    "rendering_target": "executor_context",
                }
            }
        },
    },
    "outcomes:record": {
        "a memory that helped": {
            "value": {
                "payload": {
                    # The id of the packet that the request below was answered with.
                    "packet_id": "pkt_0000000000000000000000000000000000000000",
                    "request": {
                        "cues": ["When is the release?"],
                        "target_processor": "reasoner",
                        "max_items": 5,
                    },
                    "outcome_labels": ["succeeded"],
                    "use_status": "used",
                    "used_item_refs": ["belief:release-day"],
                    "helpful_atom_refs": ["belief:release-day"],
                }
            }
        },
        "seen, and of no consequence": {
            "value": {
                "payload": {
                    "packet_id": "pkt_0000000000000000000000000000000000000000",
                    "outcome_labels": ["observed"],
                    "use_status": "context_only",
                    "missing_capability_cues": ["calendar of absences"],
                }
            }
        },
    },
    "atoms:archive": {
        "with its reason": {
            "value": {
                "idempotency_key": "archive-mira-is-away",
                "payload": {
                    "atom_id": "semantic:mira-is-away",
                    "reason": "Mira is back.",
                    "expected_version": 1,
                },
            }
        }
    },
    "atoms:restore": {
        "after all": {
            "value": {"payload": {"atom_id": "semantic:mira-is-away", "reason": "She is away once more."}}
        }
    },
    "atoms:govern": {
        "pinned": {
            "value": {
                "payload": {
                    "atom_id": "belief:release-day",
                    "retention_class": "user_pinned",
                    "reason": "We plan by it.",
                }
            }
        },
        "changed after a review alone": {
            "value": {
                "payload": {
                    "atom_id": "belief:release-day",
                    "access_policy": {"mutation_policy": "review"},
                    "reason": "Too many moved it.",
                }
            }
        },
    },
    "refusals:decide": {
        "no": {
            "value": {
                "payload": {
                    "refusal_id": "rfs_0000000000000000000000000000000000000000",
                    "decision": "decline",
                }
            }
        }
    },
    "proposals:ratify": {"adopted": {"value": {"payload": _judged("adopted")}}},
    "proposals:resolve": {"rejected": {"value": {"payload": _judged("rejected")}}},
    "constitutional-records:replace": {
        "amended": {
            "value": {
                "payload": {
                    "current_ref": "covenant:plain-reports",
                    "successor_ref": "covenant:plain-reports-2",
                    "adjudication_ref": "adjudication:plain-reports-2",
                    "expected_current_version": 2,
                    "expected_successor_version": 1,
                }
            }
        }
    },
    "constitutional-records:genesis": {
        "the first covenant": {"value": {"payload": {"record_refs": ["covenant:plain-reports"]}}}
    },
    "ratifications:diachronic-status": {
        "how far it is": {
            "value": {"payload": {"subject_ref": "belief:adopted", "identity_ref": "ent:agent:planner"}}
        }
    },
}
