"""What a document of an API cannot say, for schemathesis."""

import itertools

import schemathesis
from schemathesis import GenerationMode

# Arguments that a made up value of the right form is refused for all the same, since it
# must come from the service or be what no schema can describe, and what is sent instead;
# None: nothing. They are the pages of a search, the write to wait for, where uploaded bytes
# wait, a URL that can be fetched, a vector of the dimensions of a model and its name, a picture and files beside it in base64, a key's id.
NOT_MADE_UP = {
    "cursor": None,
    "min_index_token": None,
    "asset_storage_ref": None,
    "storage_path": None,
    "asset_data_url": None,
    "query_vector": None,
    "embedding_configuration_h": None,
    "poster_image_base64": None,
    "sidecars": None,
    "owner": "me",
}

addresses = itertools.count(1)


@schemathesis.hook
def map_case(context, case):
    """Replaces them in requests that are to be accepted."""
    if case.meta is not None and case.meta.generation.mode == GenerationMode.POSITIVE:
        for arguments in (case.query, case.body):
            if isinstance(arguments, dict):
                for name in NOT_MADE_UP.keys() & arguments.keys():
                    del arguments[name]
                    if NOT_MADE_UP[name] is not None:
                        arguments[name] = NOT_MADE_UP[name]
                    if name in ("asset_storage_ref", "storage_path", "asset_data_url"):
                        arguments["asset_data_base64"] = "Zm94"  # bytes come one way or the other
    return case


@schemathesis.hook
def before_call(context, case, kwargs):
    """Sends each request from an address of its own, as a proxy reports it: an address that
    sends one bad key after the other is answered 429, which the check of authentication
    does not expect."""
    n = next(addresses)
    case.headers["X-Forwarded-For"] = f"10.{n >> 16 & 255}.{n >> 8 & 255}.{n & 255}"


@schemathesis.serializer("application/offset+octet-stream")
def offset_bytes(context, value):
    """The bytes of a resumable upload."""
    return value if isinstance(value, bytes) else str(value).encode()
