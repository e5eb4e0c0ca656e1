"""Uploads that wait: they are sent in the background, tried again while the service is away, and survive a
restart of ComfyUI. The file itself is never touched."""

import json
import logging
import os
import threading
import time
import uuid

from .client import Client, VitrineError, settings

log = logging.getLogger("vitrine")

FIRST_PAUSE = 2.0  # seconds after the first failure; it doubles
LONGEST_PAUSE = 300.0


class Queue:
    """Sends files one after the other. Each waiting file is a small JSON file in the folder of the queue, written
    before add returns and removed once the library has acknowledged the upload, or refused it for good."""

    def __init__(self, folder, first_pause=FIRST_PAUSE):
        self.folder, self.first_pause = folder, first_pause
        os.makedirs(folder, exist_ok=True)
        self._wake = threading.Condition()
        self._busy, self._thread = False, None

    def add(self, path, filename, mime_type, tags, collection):
        """Puts a file on the list."""
        entry = {"path": os.path.abspath(path), "filename": filename, "mime_type": mime_type, "tags": list(tags), "collection": collection}
        name = os.path.join(self.folder, "%020d-%s.json" % (time.time_ns(), uuid.uuid4().hex))
        with open(name + ".new", "w", encoding="utf-8") as f:
            json.dump(entry, f)
            f.flush()
            os.fsync(f.fileno())
        os.replace(name + ".new", name)
        self.start()

    def start(self):
        """Starts sending, if something waits."""
        with self._wake:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="vitrine-upload", daemon=True)
                self._thread.start()
            self._wake.notify_all()

    def waiting(self):
        """Returns the names of what waits, the oldest first."""
        return sorted(n for n in os.listdir(self.folder) if n.endswith(".json"))

    def drain(self, timeout):
        """Waits until nothing waits any more, and reports whether that is so."""
        end = time.monotonic() + timeout
        while self.waiting():
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def _run(self):
        pause = self.first_pause
        while True:
            names = self.waiting()
            if not names:
                with self._wake:
                    if not self.waiting():
                        self._wake.wait(60)
                continue
            if self._send(os.path.join(self.folder, names[0])):
                pause = self.first_pause
                continue
            with self._wake:
                self._wake.wait(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    def _send(self, name):
        """Sends one entry, and reports whether the next one may be tried at once."""
        try:
            with open(name, encoding="utf-8") as f:
                entry = json.load(f)
            client = Client(**settings())
            asset = client.store(entry["path"], entry["filename"], entry["mime_type"], entry["tags"], entry["collection"])
            log.info("Vitrine has stored %s as %s", entry["filename"], asset)
        except VitrineError as err:
            # Without a key, or with a wrong one, every upload would fail: it is set right, and then all go.
            if err.passing or err.status in (0, 401, 403):
                log.warning("%s waits for Vitrine and is tried again: %s", entry["path"], err)
                return False
            log.error("Vitrine refuses %s; the file stays where it is: %s", entry["path"], err)
        except FileNotFoundError:
            log.error("A file that waited for Vitrine is gone: %s", name)
        except (OSError, ValueError, KeyError, TypeError) as err:
            log.error("%s cannot be sent: %s", name, err)
        try:
            os.remove(name)
        except OSError as err:
            log.error("%s cannot be removed: %s", name, err)
            return False
        return True
