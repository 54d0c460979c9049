"""The service keeps its own OpenAPI document: schemathesis, in process, every check (T17)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, settings
from schemathesis.config import SchemathesisConfig

EXAMPLES: int = 12
