"""How a controller scores sessions: one, or many at once."""

import logging
from collections.abc import Mapping
from typing import Any, cast

from mcp import MCPError
from pydantic.alias_generators import to_camel

from checkpoint import VERIFY
from checkpoint.errors import CheckpointError
from toolkits.cells import has_surrogate
from wa_mcp.errors import CodedError, failure, invalid_params, on_the_wire
from wa_mcp.operations import CheckClient, checked, operation_that_waits
from wa_mcp.parameters import VerifyParam, VerifyParams
from wa_mcp.runtime import Runtime

__all__: list[str] = []

logger = logging.getLogger(__name__)


@operation_that_waits(VERIFY, "Score sessions")
async def verify(runtime: Runtime, params: VerifyParams, check_client: CheckClient) -> Mapping[str, Any]:
    """Score a session, or each of a list, against a ground truth and end it; asked again, answer the same."""
    if params.items is None:
        given = {to_camel(name): getattr(params, name) for name in params.model_fields_set}
        return await _verify(runtime, checked(VerifyParam, given), check_client)
    if len(params.model_fields_set) > 1:
        raise invalid_params("items: give the list alone, and the rest in its entries.")
    return {"results": [await _verified(runtime, item, check_client) for item in params.items]}


async def _verify(runtime: Runtime, params: VerifyParam, check_client: CheckClient) -> Mapping[str, Any]:
    return await runtime.verifier.verify(
        params.session_id,
        params.ground_truth,
        params.calls,
        profile=params.profile or "gym",
        keep=params.keep or False,
        check_client=check_client,
    )


async def _verified(runtime: Runtime, item: Any, check_client: CheckClient) -> dict[str, Any]:
    """Score one of many, so that no other has to know how it ends."""
    given = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
    session_id = given.get("sessionId")
    shown = session_id if isinstance(session_id, str) and not has_surrogate(session_id) else None
    try:
        if not isinstance(item, dict):
            raise invalid_params("items: expected an object with sessionId and groundTruth.")
        return {
            "sessionId": shown,
            "result": await _verify(runtime, checked(VerifyParam, given), check_client),
        }
    except (CodedError, CheckpointError) as error:
        refused = on_the_wire(error)
    except MCPError as error:
        refused = error
    except Exception:  # one item must not take the others' results along
        logger.exception("an item of a verify failed")
        refused = failure("The server failed; nothing was changed.")
    return {
        "sessionId": shown,
        "error": {"code": refused.code, "message": refused.message, "data": refused.data},
    }
