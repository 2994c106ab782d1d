"""The Lua scripts that add one frame to a run's stream, each as one atomic step.

A frame's place is decided here. ``prev`` (``p``) is the id before it, so that a reader sees a gap, and a writer that
was overtaken (its event number is below the last one) changes nothing at all: no entry, no publish, no text.
"""

import hashlib
from enum import IntEnum


class Written(IntEnum):
    """What a script answers first; after ADDED comes the number of listeners."""

    ADDED = 1
    REFUSED = -1  # the stream is further than this writer knows: it was overtaken
    WHOLE_NEEDED = -2  # the open message here is not the one that the piece continues: send all of it


# KEYS and the first arguments are the same for all: stream, open, text, thinking; channel, tail, length, expiry.
_HEAD = """
local info = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
local prev = '0-0'
if #info > 0 then prev = info[1][1] end
local last_event, last_delta = string.match(prev, '^(%d+)-(%d+)$')
last_event = tonumber(last_event)
last_delta = tonumber(last_delta)
local function add(id, lasts)
  local frame = '{"c":"' .. id .. '","p":"' .. prev .. '",' .. ARGV[2]
  redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[3], id, 'f', frame)
  if not lasts then redis.call('EXPIRE', KEYS[1], ARGV[4]) end
  return redis.call('PUBLISH', ARGV[1], frame)
end
"""

# ARGV 5: number of the last event of the batch. 6: message that opens, or "". 7: "1" when the open one closes.
EVENTS = (
    _HEAD
    + """
local event = tonumber(ARGV[5])
if event <= last_event then return {-1, 0} end
if ARGV[7] == '1' or ARGV[6] ~= '' then redis.call('DEL', KEYS[2], KEYS[3], KEYS[4]) end
local id = string.format('%d-0', event)
if ARGV[6] ~= '' then
  redis.call('HSET', KEYS[2], 'message', ARGV[6], 'cursor', id)
  redis.call('EXPIRE', KEYS[2], ARGV[4])
end
return {1, add(id)}
"""
)

# ARGV 5: event after which the deltas come. 6: message, or "" when there is no text in it. 7: "whole" or "piece".
# 8, 9: text and how many bytes of it came before; 10, 11: the same for thinking. The keys' time begins anew with every
# eighth frame, and where one of them is new.
DELTAS = (
    _HEAD
    + """
local event = tonumber(ARGV[5])
if event < last_event then return {-1, 0} end
local open = redis.call('HGET', KEYS[2], 'message')
if ARGV[6] ~= '' and ARGV[7] == 'piece' then
  if open ~= ARGV[6] then return {-2, 0} end
  if redis.call('STRLEN', KEYS[3]) ~= tonumber(ARGV[9]) then return {-2, 0} end
  if redis.call('STRLEN', KEYS[4]) ~= tonumber(ARGV[11]) then return {-2, 0} end
end
local delta = 1
if event == last_event then delta = last_delta + 1 end
local id = string.format('%d-%d', event, delta)
local is_new = ARGV[7] == 'whole' or (ARGV[8] ~= '' and ARGV[9] == '0') or (ARGV[10] ~= '' and ARGV[11] == '0')
local lasts = delta % 8 ~= 1 and not is_new
if ARGV[6] ~= '' then
  if ARGV[7] == 'whole' then redis.call('DEL', KEYS[3], KEYS[4]) end
  if ARGV[8] ~= '' then redis.call('APPEND', KEYS[3], ARGV[8]) end
  if ARGV[10] ~= '' then redis.call('APPEND', KEYS[4], ARGV[10]) end
  redis.call('HSET', KEYS[2], 'message', ARGV[6], 'cursor', id)
  if not lasts then for i = 2, 4 do redis.call('EXPIRE', KEYS[i], ARGV[4]) end end
elseif open then
  redis.call('HSET', KEYS[2], 'cursor', id)
end
return {1, add(id, lasts)}
"""
)

# A change that is no event. Without a stream it has no place and is only published.
TOUCH = (
    _HEAD
    + """
if #info == 0 then return {1, redis.call('PUBLISH', ARGV[1], '{' .. ARGV[2])} end
local id = string.format('%d-%d', last_event, last_delta + 1)
if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('HSET', KEYS[2], 'cursor', id) end
return {1, add(id)}
"""
)


def sha(script: str) -> str:
    return hashlib.sha1(script.encode(), usedforsecurity=False).hexdigest()
