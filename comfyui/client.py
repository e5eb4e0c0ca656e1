"""A client of Vitrine's REST API, of the standard library alone.

The address and the key come from the environment or from a file, never from a workflow: ComfyUI writes
the values of a node's widgets into every image that it saves, and people share those.
"""

import hashlib
import json
import os
import urllib.error
import urllib.parse
import urllib.request

DEFAULT_URL = "http://127.0.0.1:7788"
TIMEOUT = 60  # seconds without a byte, for each request


class VitrineError(Exception):
    """An answer that is no success. Passing errors are worth a repetition."""

    def __init__(self, message, status=0, code="", passing=False):
        super().__init__(message)
        self.status, self.code, self.passing = status, code, passing


def settings_file():
    """Returns where settings are read from: VITRINE_COMFYUI_CONFIG, or a file in the home folder."""
    return os.environ.get("VITRINE_COMFYUI_CONFIG") or os.path.join(os.path.expanduser("~"), ".config", "vitrine", "comfyui.json")


def settings():
    """Returns url, key and tenant. The environment comes before the file, for each of them."""
    found = {}
    path = settings_file()
    try:
        with open(path, encoding="utf-8") as f:
            found = json.load(f)
        if not isinstance(found, dict):
            raise ValueError("it is no JSON object")
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as err:
        raise VitrineError("The settings in %s cannot be read: %s" % (path, err)) from err
    key = os.environ.get("VITRINE_API_KEY") or found.get("key", "")
    if not key:
        raise VitrineError("No API key: set VITRINE_API_KEY for ComfyUI, or write {\"url\": …, \"key\": …} to %s" % path)
    return {
        "url": (os.environ.get("VITRINE_URL") or found.get("url") or DEFAULT_URL).rstrip("/"),
        "key": key,
        "tenant": os.environ.get("VITRINE_TENANT") or found.get("tenant", ""),
    }


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Takes a redirect for an answer, so that the key is sent to no other server."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        return None


_opener = urllib.request.build_opener(_NoRedirect)


class Client:
    def __init__(self, url, key, tenant=""):
        self.url, self.key, self.tenant = url, key, tenant

    def _send(self, method, url, body=None, headers=None, with_key=True):
        headers = dict(headers or {}, **{"User-Agent": "vitrine-comfyui/1"})
        if with_key:
            headers["Authorization"] = "Bearer " + self.key
            if self.tenant:
                headers["X-Tenant-ID"] = self.tenant
        request = urllib.request.Request(url, data=body, headers=headers, method=method)
        try:
            return _opener.open(request, timeout=TIMEOUT)
        except urllib.error.HTTPError as err:
            if err.code in (302, 303, 307, 308) and method == "GET":
                target = urllib.parse.urljoin(url, err.headers.get("Location", ""))
                if urllib.parse.urlsplit(target).scheme in ("http", "https"):
                    return self._send("GET", target, with_key=False)
            raise _problem(err) from err
        except (urllib.error.URLError, OSError) as err:
            raise VitrineError("Vitrine at %s does not answer: %s" % (self.url, getattr(err, "reason", err)), passing=True) from err

    def call(self, method, path, body=None, query=None):
        """Calls an operation and returns its JSON."""
        url = self.url + path + ("?" + urllib.parse.urlencode(query) if query else "")
        data = None if body is None else json.dumps(body).encode("utf-8")
        with self._send(method, url, data, {"Content-Type": "application/json"} if data else {}) as answer:
            return json.loads(answer.read())

    def store(self, path, filename, mime_type, tags=(), collection=""):
        """Stores a file and returns the asset's hash. Bytes that are stored already are not sent again."""
        digest, size = sha1_of(path)
        ticket = self.call("GET", "/api/v1/storage/signed-url/upload",
                           query={"filename": filename, "mime_type": mime_type, "size": size, "sha1": digest})
        wanted = {"filename": filename, "mime_type": mime_type}
        if tags:
            wanted["tags"] = list(tags)
        if collection:
            wanted["collection_h"] = collection
        if ticket.get("already_stored"):
            if not tags and not collection:
                return ticket["already_stored"]
            # The library has the bytes; small ones are sent once more, with what is new of them.
            ticket = self.call("GET", "/api/v1/storage/signed-url/upload", query={"filename": filename, "mime_type": mime_type, "size": size})
        with open(path, "rb") as f:
            headers = {"Content-Type": mime_type, "Content-Length": str(size)}
            self._send("PUT", urllib.parse.urljoin(self.url, ticket["signedUrl"]), f, headers, with_key=False).close()
        wanted["storage_path"] = ticket["storagePath"]
        return self.call("POST", "/api/v1/assets", wanted)["asset"]["asset_h"]

    def find(self, query, index=0):
        """Returns the hash of a query's result at a place."""
        page = self.call("POST", "/api/v1/assets/search", {"query": query, "limit": 1, "offset": index})
        if not page["data"]:
            raise VitrineError("The query %r has %d results, so there is none at place %d." % (query, page["total"], index))
        return page["data"][0]["asset_h"]

    def download(self, asset_h):
        """Returns an asset's original bytes."""
        with self._send("GET", self.url + "/api/v1/assets/" + urllib.parse.quote(asset_h, safe="") + "/download") as answer:
            data = answer.read()
        if hashlib.sha1(data).hexdigest() != asset_h:
            raise VitrineError("The bytes of %s came damaged." % asset_h, passing=True)
        return data


def _problem(err):
    """Turns an answer of the service into a VitrineError."""
    try:
        problem = json.loads(err.read(1 << 20))
    except (ValueError, OSError):
        problem = {}
    code = problem.get("code", "")
    text = "%s (%s)" % (problem.get("detail") or err.reason, code or err.code)
    return VitrineError(text, err.code, code, passing=err.code in (408, 429, 499, 507) or err.code >= 500)


def sha1_of(path):
    """Returns the SHA-1 of a file, which is its name in the library, and its size."""
    digest, size = hashlib.sha1(), 0
    with open(path, "rb") as f:
        while block := f.read(1 << 20):
            digest.update(block)
            size += len(block)
    return digest.hexdigest(), size
