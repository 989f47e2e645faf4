"""What Redis is asked to do: keys, channels and scripts, down to Redis 7.0.

A room has two keys and a channel that share a hash tag, so they live on one node of a cluster:
the log, a stream whose entry ids are the commits' numbers, and a hash with the header, the
snapshot and how far the room's time has run. Scripts are sent whole (EVAL): a cluster has no other
way that survives a moved slot.
"""

from binascii import crc_hqx
from collections.abc import Sequence

from scopa_server.journal.hints import EVERYBODY
from scopa_server.journal.interface import Commit, Draft, Snapshot, Touch, plain_room, positive_ttl

Word = str | bytes | int
Command = tuple[Word, ...]

SLOTS = 16384
_PREFIX = "scopa:{"
_LOG = "}:log"
_ABOUT = "}:about"
_NEWS = "}:news"
LOGS = f"{_PREFIX}*{_LOG}"
"""The pattern of all logs' keys."""
ASKING: Command = ("ASKING",)
"""Before a command for a slot that is on its way to a node."""


def log_key(room: str) -> str:
    """Return the key of a room's log."""
    return f"{_PREFIX}{plain_room(room)}{_LOG}"


def about_key(room: str) -> str:
    """Return the key of what else is kept of a room."""
    return f"{_PREFIX}{plain_room(room)}{_ABOUT}"


def here_key(room: str) -> str:
    """Return the key of what processes say of who is there."""
    return f"{_PREFIX}{plain_room(room)}}}:here"


def channel(room: str) -> str:
    """Return the channel that tells of a room's commits."""
    return f"{_PREFIX}{plain_room(room)}{_NEWS}"


def secret_key(room: str) -> str:
    """Return the key of the secret that processes share."""
    return f"{_PREFIX}{plain_room(room)}}}:secret"


def slot_of(room: str) -> int:
    """Return the slot of a cluster in which all of a room is."""
    return crc_hqx(plain_room(room).encode(), 0) % SLOTS


def room_of(name: str) -> str:
    """Return the room of a key or channel."""
    return name[len(_PREFIX) : name.rindex("}")]


# An expiry that is right to a hundredth is left alone: a commit is then one write to Redis's file.
#
# A channel is no key: a cluster that moves a slot would wait for it to come along.
#
# The first write is the one that may be refused (memory full, a replica, no disk): what Redis
# answers with an error has changed nothing. For the same reason no shebang: a repeated draft is
# recognised even when memory is full. Publishing may be forbidden; it is only a hint, and left out
# where nobody would hear it but the process that commits. Whether that still listens here the store
# knows better than the process: its ear has a channel of its own, which ends with its connection.
APPEND = """
local log, about = KEYS[1], KEYS[2]
local number, id, previous, payload, ttl = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local entry = number .. '-0'
local top, follows = redis.call('XREVRANGE', log, '+', '-', 'COUNT', 1)[1], number == '1'
if top then
  follows = string.format('%.0f-0', tonumber(number) - 1) == top[1] and top[2][2] == previous
end
if not follows then
  local held = redis.call('XRANGE', log, entry, entry)[1]
  return held and held[2][2] == id and tonumber(held[2][6]) or 0
end
local time = redis.call('TIME')
local at = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('XADD', log, entry,
  'id', id, 'previous', previous, 'at', string.format('%.0f', at), 'payload', payload)
if not top then redis.call('DEL', about) end
if ARGV[8] then redis.call('HSET', about, 'header', ARGV[8]) end
local left = top and not ARGV[8] and redis.call('TTL', log) or 0
if left < ttl * 0.99 or left > ttl then
  redis.call('EXPIRE', log, ttl)
  redis.call('EXPIRE', about, ttl)
end
local heard = ARGV[7] ~= '' and redis.pcall('PUBSUB', 'SHARDNUMSUB', ARGV[6], ARGV[7])
if not heard or heard[2] ~= 1 or heard[4] ~= 1 then redis.pcall('SPUBLISH', ARGV[6], number) end
return at
"""

_RESTORE = """
local log, about, ttl = KEYS[1], KEYS[2], ARGV[1]
if redis.call('EXISTS', log) == 1 then return 0 end
for i = 3, #ARGV, 5 do
  redis.call('XADD', log, ARGV[i] .. '-0', 'id', ARGV[i + 1], 'previous', ARGV[i + 2],
    'at', ARGV[i + 3], 'payload', ARGV[i + 4])
end
redis.call('DEL', about)
redis.call('HSET', about, 'header', ARGV[2])
redis.call('EXPIRE', log, ttl)
redis.call('EXPIRE', about, ttl)
return 1
"""

# A note carries the time it ends: the hash's own expiry is that of the latest. One that ends later
# than any could was left before this clock was set back, and is to be forgotten as soon as others.
_GOSSIP = """
local here, process, note, seconds = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local before = redis.call('HGET', here, process)
if note == '' then
  redis.call('HDEL', here, process)
else
  redis.call('HSET', here, process, string.format('%.0f:', now + seconds * 1000) .. note)
  redis.call('EXPIRE', here, seconds)
end
if (before and before:match(':(.*)') or '') ~= note then redis.pcall('SPUBLISH', ARGV[4], 0) end
local others, all = {}, redis.call('HGETALL', here)
for i = 1, #all, 2 do
  local ends, text = all[i + 1]:match('(%d+):(.*)')
  ends = tonumber(ends)
  if ends > now + seconds * 1000 then
    ends = now + seconds * 1000
    redis.call('HSET', here, all[i], string.format('%.0f:', ends) .. text)
  end
  if ends <= now then
    redis.call('HDEL', here, all[i])
  elseif all[i] ~= process then
    others[#others + 1] = all[i]
    others[#others + 1] = text
  end
end
return others
"""

_SHARED_KEY = """
local key = redis.call('GET', KEYS[1]) or ARGV[1]
redis.call('SET', KEYS[1], key, 'EX', ARGV[2])
return key
"""

_HEADER = """
local header = redis.call('HGET', KEYS[2], 'header')
return header or (redis.call('EXISTS', KEYS[1]) == 1 and '')
"""

_TOP = """
local top = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
return top and {top[1], top[2][2]}
"""

_SOUND = """
local function sound(number, id)
  if not number then return false end
  local held = redis.call('XRANGE', KEYS[1], number .. '-0', number .. '-0')[1]
  return held and held[2][2] == id
end
local kept = redis.call('HMGET', KEYS[2], 'number', 'id', 'snapshot')
"""

_SNAPSHOT = (
    _SOUND
    + """
if not sound(ARGV[1], ARGV[2]) then return 0 end
if sound(kept[1], kept[2]) and tonumber(kept[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call('HSET', KEYS[2], 'number', ARGV[1], 'id', ARGV[2], 'snapshot', ARGV[3])
local expires = redis.call('PEXPIRETIME', KEYS[1])
if expires > 0 then redis.call('PEXPIREAT', KEYS[2], string.format('%.0f', expires)) end
return 1
"""
)

_LATEST = _SOUND + "return sound(kept[1], kept[2]) and kept"

# Expiry first: it needs no memory, and after it the rest of the script is let through.
_TOUCH = """
if redis.call('EXPIRE', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[2], 'shown', ARGV[2])
redis.call('EXPIRE', KEYS[2], ARGV[1])
return 1
"""


def append(room: str, draft: Draft, header: bytes | None, ttl: int, *, ear: str = "") -> Command:
    """Answers the time it was stored at, or 0 for taken.

    `ear`: the channel that only who commits is subscribed to, over the same connection as to the
    room's; if the store sees it there and nobody else, nothing is published.
    """
    named = f"{_PREFIX}{plain_room(room)}"
    return (
        "EVAL",
        APPEND,
        2,
        named + _LOG,
        named + _ABOUT,
        draft.number,
        draft.id,
        draft.previous,
        draft.payload,
        positive_ttl(ttl),
        named + _NEWS,
        ear,
        *(() if header is None else (header,)),
    )


def restore(room: str, commits: Sequence[Commit], header: bytes, ttl: int) -> Command:
    """Answers whether the room was brought in."""
    entries = [word for c in commits for word in (c.number, c.id, c.previous, c.at, c.payload)]
    keys = (log_key(room), about_key(room))
    return ("EVAL", _RESTORE, 2, *keys, positive_ttl(ttl), header, *entries)


def gossip(room: str, process: str, note: bytes, seconds: int) -> Command:
    """Answers the other processes and their notes, in turn."""
    words = (process, note, positive_ttl(seconds), channel(room))
    return ("EVAL", _GOSSIP, 1, here_key(room), *words)


def shared_key(new: bytes, seconds: int) -> Command:
    """Answers the key that processes share; the new one if there was none."""
    return ("EVAL", _SHARED_KEY, 1, secret_key(EVERYBODY), new, positive_ttl(seconds))


def publish(words: bytes) -> Command:
    """Answers how many connections to this server heard it."""
    return ("SPUBLISH", channel(EVERYBODY), words)


def listeners(name: str) -> Command:
    """Answers the channel and how many connections to this server are subscribed to it."""
    return ("PUBSUB", "SHARDNUMSUB", name)


def read(room: str, after: int) -> Command:
    """Answers the entries above a number."""
    return ("XRANGE", log_key(room), f"({after}-0", "+")


def top(room: str) -> Command:
    """Answers entry and id of the newest commit."""
    return ("EVAL", _TOP, 1, log_key(room))


def snapshot(room: str, new: Snapshot) -> Command:
    """Answers whether the snapshot was kept."""
    words = (new.number, new.id, new.payload)
    return ("EVAL", _SNAPSHOT, 2, log_key(room), about_key(room), *words)


def latest_snapshot(room: str) -> Command:
    """Answers number, id and payload of the snapshot kept, if sound."""
    return ("EVAL", _LATEST, 2, log_key(room), about_key(room))


def touch(room: str, new: Touch) -> Command:
    """Answers whether there is such a room."""
    keys = (log_key(room), about_key(room))
    return ("EVAL", _TOUCH, 2, *keys, positive_ttl(new.ttl), new.mark)


def header(room: str) -> Command:
    """Answers the header, an empty one if only the log is there."""
    return ("EVAL", _HEADER, 2, log_key(room), about_key(room))


def shown(room: str) -> Command:
    """Answers the mark of the last touch."""
    return ("HGET", about_key(room), "shown")


def delete(room: str) -> Command:
    """Answers how many keys there were."""
    return ("UNLINK", log_key(room), about_key(room), here_key(room))
