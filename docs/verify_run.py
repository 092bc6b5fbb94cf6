"""Check an exported run: python verify_run.py run.json [PUBLIC_KEY]. Needs only the package `cryptography`."""

import json
import sys
from base64 import b64decode
from hashlib import sha256

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

with open(sys.argv[1], encoding="utf-8") as file:
    run = json.load(file)
prev = ""
for place, event in enumerate(run["events"], start=1):
    actor = json.dumps(event["actor"], ensure_ascii=False)
    body = f'{{"actor":{actor},"at":"{event["at"]}","data":{event["data"]},"kind":"{event["kind"]}",'
    body += f'"run":"{run["run"]}","seq":{event["seq"]},"tenant":"{run["tenant"]}"}}'
    good = sha256((prev + body).encode()).hexdigest()
    if (event["seq"], event["prev_hash"], event["hash"]) != (place, prev, good):
        sys.exit(f"BROKEN: event {place} does not follow from the one before it.")
    prev = good
if prev != run["head"]:
    sys.exit("BROKEN: events are missing at the end.")
print(f"The {len(run['events'])} events follow from one another.")
proof = run["checkpoint"]
if proof is None:
    sys.exit("No checkpoint vouches for them yet: export the run again in a few minutes.")
leaf = [run["run"], proof["seq"], run["events"][proof["seq"] - 1]["hash"]]
node = sha256(b"\0" + json.dumps(leaf, separators=(",", ":")).encode()).digest()
for side, other in proof["path"]:
    pair = bytes.fromhex(other) + node if side == "left" else node + bytes.fromhex(other)
    node = sha256(b"\1" + pair).digest()
signed = json.loads(proof["body"])
if (node.hex(), run["tenant"]) != (signed["root"], signed["tenant"]):
    sys.exit("BROKEN: the checkpoint is not about this log.")
key = sys.argv[2] if len(sys.argv) > 2 else proof["public_key"]
Ed25519PublicKey.from_public_bytes(b64decode(key)).verify(b64decode(proof["signature"]), proof["body"].encode())
print(f"Signed at {signed['at']}, up to event {proof['seq']}, by the key {key}.")
