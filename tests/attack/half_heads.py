"""A million half heads of requests, far more than there is room for; who asks beside them is served."""
import time
import unittest

import target as targets  # noqa: F401: where the smoke tests lie
import slow_heads_test
from box_case import BoxCase
from target import Outcome


LEAST_SECONDS = 30  # in which more half heads begin than there is room for


class Million(slow_heads_test.WithoutRoom):
    HEADS, SOURCES, MOST = 1_000_000, 40_000, 192_000
    MEMORY = slow_heads_test.WithoutRoom.MEMORY + MOST * 64  # lines that heads are held in
    PAGES_EVERY = 10 * slow_heads_test.BATCH


def run(programs, deadline, _dice):
    BoxCase.programs = programs
    Million.SECONDS = max(deadline - time.monotonic(), LEAST_SECONDS)
    result = unittest.TestResult()
    Million("test_more_half_heads_than_there_is_room_for").run(result)
    outcome = Outcome(attempts=1, survived=int(result.wasSuccessful()))
    for _, error in result.failures + result.errors:
        outcome.expect(False, error.splitlines()[-1])
    return outcome
