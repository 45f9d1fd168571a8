import { redisScript } from '../../io/redis/run-script.ts';

/**
 * The keys, and steps of several scripts. KEYS[1] is the prefix of all keys; a script derives the keys of a run from it,
 * because it also removes runs that the caller does not know. `PREFIX:run:ID` holds a run: its record, its job, the
 * number of its events, and whether it is hidden. A hidden run can only be waited for, and expires soon.
 *
 * When Redis is full, it refuses the first command of a script that needs memory, but only if the script has written
 * nothing yet. Scripts that store something new therefore begin with such a command, and have no effect then. Scripts
 * that end or remove a run begin with another one, so that they always work.
 */
const COMMON = `
local call = redis.call
local P = KEYS[1]
-- Ended runs that are listed, by their last use in microseconds; their sizes; the sum of their sizes.
local RUNS, SIZES, BYTES = P .. ':runs', P .. ':runs:sizes', P .. ':runs:bytes'
-- Runs that have not ended, by the end of the lease of the host that looks after them; those of them that wait.
local ACTIVE, QUEUED = P .. ':runs:active', P .. ':runs:queued'
local DAY = 86400
local FINAL = { succeeded = true, failed = true, cancelled = true }

-- Lua would shorten a large number.
local function text(number) return string.format('%.0f', number) end
local function now()
  local time = call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end
local function keyOf(id) return P .. ':run:' .. id end
local function publish(id, what) call('PUBLISH', P .. ':runs:news', id .. ' ' .. what) end
local function keepIndexes(seconds)
  for _, key in ipairs({ RUNS, SIZES, BYTES, ACTIVE, QUEUED, P .. ':keys' }) do call('EXPIRE', key, seconds + DAY) end
end
local function setFields(key, from)
  for i = from, #ARGV, 2 do call('HSET', key, ARGV[i], ARGV[i + 1]) end
end
local function dropBlobs(id, kept)
  local set = keyOf(id) .. ':blobs'
  for _, key in ipairs(call('SMEMBERS', set)) do
    local digest = string.match(key, ':blob:(%x+)')
    if not digest or not kept[digest] then
      call('UNLINK', key)
      call('SREM', set, key)
    end
  end
end
local function unlist(id)
  local size = call('HGET', SIZES, id)
  if size then
    call('HDEL', SIZES, id)
    call('DECRBY', BYTES, size)
  end
  call('ZREM', RUNS, id)
end
local function stop(id)
  call('ZREM', ACTIVE, id)
  call('SREM', QUEUED, id)
end
local function erase(id)
  dropBlobs(id, {})
  call('UNLINK', keyOf(id), keyOf(id) .. ':events')
end
local function hide(id, seconds, why)
  dropBlobs(id, {})
  call('HSET', keyOf(id), 'hidden', why)
  call('EXPIRE', keyOf(id), seconds)
end
local function list(id, size, seconds, maxRuns, maxBytes)
  unlist(id)
  call('ZADD', RUNS, text(now()), id)
  call('HSET', SIZES, id, size)
  call('INCRBY', BYTES, size)
  keepIndexes(seconds)
  while call('ZCARD', RUNS) > tonumber(maxRuns) or tonumber(call('GET', BYTES) or 0) > tonumber(maxBytes) do
    local oldest = call('ZRANGE', RUNS, 0, 0)[1]
    -- The newest run is kept, whatever its size.
    if not oldest or oldest == id then return end
    unlist(oldest)
    -- A client may be about to read the end of this run. Nobody waits for a run whose only event is its end.
    if tonumber(call('HGET', keyOf(oldest), 'event') or 0) > 1 then hide(oldest, 5, 'dropped') else erase(oldest) end
    publish(oldest, 'removed')
  end
end
`;

const script = (text: string): ReturnType<typeof redisScript> => redisScript(COMMON + text);

/** Stores an ended run. ARGV: ID, size, seconds, most runs, most bytes, names and values of fields. */
export const KEEP = script(`
call('ZADD', RUNS, text(now()), ARGV[1])
erase(ARGV[1])
setFields(keyOf(ARGV[1]), 6)
call('HSET', keyOf(ARGV[1]), 'event', 1, 'since', text(now()))
call('EXPIRE', keyOf(ARGV[1]), ARGV[3])
list(ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5])
`);

/**
 * Records a waiting run, together with its idempotency key if there is one. ARGV: ID, lease in microseconds, most
 * waiting runs, seconds, digest of the idempotency key or '', the present value of that key, its new value, its seconds,
 * the largest number of keys, names and values of fields. Returns `created`, or why not: `exists`, `full`, or `key` if
 * the idempotency key has another value by now.
 */
export const CREATE = script(`
local id, seconds, claim = ARGV[1], tonumber(ARGV[4]), P .. ':key:' .. ARGV[5]
if call('EXISTS', keyOf(id)) == 1 then return 'exists' end
if ARGV[5] ~= '' and (call('GET', claim) or '') ~= ARGV[6] then return 'key' end
if call('SCARD', QUEUED) >= tonumber(ARGV[3]) then return 'full' end
if ARGV[5] ~= '' then
  call('SET', claim, ARGV[7], 'EX', ARGV[8])
  call('ZADD', P .. ':keys', text(now()), ARGV[5])
  if call('ZCARD', P .. ':keys') > tonumber(ARGV[9]) then
    call('UNLINK', P .. ':key:' .. call('ZPOPMIN', P .. ':keys')[1])
  end
end
setFields(keyOf(id), 10)
call('HSET', keyOf(id), 'status', 'queued', 'event', 1, 'since', text(now()))
call('EXPIRE', keyOf(id), seconds)
call('ZADD', ACTIVE, text(now() + tonumber(ARGV[2])), id)
call('SADD', QUEUED, id)
keepIndexes(seconds)
return 'created'
`);

/** Notes that a worker has started a run. ARGV: ID. */
export const START = script(`
local key = keyOf(ARGV[1])
if call('HGET', key, 'status') ~= 'queued' then return end
call('HSET', key, 'status', 'running', 'started', call('HINCRBY', key, 'event', 1))
call('SREM', QUEUED, ARGV[1])
publish(ARGV[1], 'running')
`);

/** Adds a progress report, unless it equals the last one. ARGV: ID, report, most reports, seconds. */
export const PROGRESS = script(`
local key, events = keyOf(ARGV[1]), keyOf(ARGV[1]) .. ':events'
local status = call('HGET', key, 'status')
if status ~= 'queued' and status ~= 'running' then return end
local last = call('LINDEX', events, -1)
if last and string.match(last, '^%d+ (.*)$') == ARGV[2] then return end
call('RPUSH', events, text(call('HINCRBY', key, 'event', 1)) .. ' ' .. ARGV[2])
call('LTRIM', events, -tonumber(ARGV[3]), -1)
call('EXPIRE', events, ARGV[4])
publish(ARGV[1], 'progress')
`);

/**
 * Records the end of a run, once. ARGV: ID, a token of the caller, 1 to hide the run, size, seconds, seconds of a hidden
 * run, most runs, most bytes, digests of the files to keep, names and values of fields. Returns `recorded`, also if this
 * caller has already recorded it; `ended` if another end is recorded; `unknown`.
 */
export const END = script(`
local id, key = ARGV[1], keyOf(ARGV[1])
local status = call('HGET', key, 'status')
if not status then return 'unknown' end
if FINAL[status] then
  if call('HGET', key, 'token') == ARGV[2] then return 'recorded' end
  return 'ended'
end
stop(id)
setFields(key, 10)
call('HINCRBY', key, 'event', 1)
call('HSET', key, 'token', ARGV[2])
call('HDEL', key, 'job')
-- Followers read the last reports after the end.
call('EXPIRE', key .. ':events', 60)
local kept = {}
for digest in string.gmatch(ARGV[9], '%x+') do kept[digest] = true end
if ARGV[3] == '1' then
  hide(id, ARGV[6], 'forgotten')
else
  dropBlobs(id, kept)
  call('EXPIRE', key, ARGV[5])
  list(id, ARGV[4], tonumber(ARGV[5]), ARGV[7], ARGV[8])
end
publish(id, 'ended')
return 'recorded'
`);

/** Removes an ended run. ARGV: ID. Returns `removed`, `unknown`, or `active` if it has not ended. */
export const REMOVE = script(`
local key = keyOf(ARGV[1])
local status = call('HGET', key, 'status')
if not status or call('HGET', key, 'hidden') then return 'unknown' end
if status == 'queued' or status == 'running' then return 'active' end
unlist(ARGV[1])
-- Clients that follow the run have a minute to learn that it ended.
hide(ARGV[1], 60, 'removed')
call('HDEL', key, 'body', 'digest', 'files')
publish(ARGV[1], 'removed')
return 'removed'
`);

/** Removes a waiting run as if it had never been there. ARGV: ID, digest of its idempotency key or '', value of the key. */
export const DISCARD = script(`
local id, claim = ARGV[1], P .. ':key:' .. ARGV[2]
if call('HGET', keyOf(id), 'status') == 'queued' then
  stop(id)
  erase(id)
  if ARGV[2] ~= '' and call('GET', claim) == ARGV[3] then call('UNLINK', claim) end
elseif call('EXISTS', keyOf(id)) == 0 then
  dropBlobs(id, {})
end
`);

/** Returns the fields of a run, and marks it as used if ARGV[2] is 1. ARGV: ID, 1 or 0. */
export const GET = script(`
if ARGV[2] == '1' then redis.pcall('ZADD', RUNS, 'XX', text(now()), ARGV[1]) end
return call('HGETALL', keyOf(ARGV[1]))
`);

/** Returns what all listed runs are. */
export const LIST = script(`
local found = {}
for _, index in ipairs({ RUNS, ACTIVE }) do
  for _, id in ipairs(call('ZRANGE', index, 0, -1)) do
    local fields = call('HMGET', keyOf(id), 'endpoint', 'status', 'created', 'finished', 'since', 'tenant')
    if fields[2] then found[#found + 1] = { id, unpack(fields) } end
  end
end
return found
`);

/** Returns the numbers of waiting, running and ended runs. */
export const COUNTS = script(`
local queued = call('SCARD', QUEUED)
return { queued, call('ZCARD', ACTIVE) - queued, call('ZCARD', RUNS) }
`);

/**
 * Returns the status of a run, the ID of its last event and that of its start, and the reports after an event. ARGV: ID,
 * ID of the event.
 */
export const EVENTS = script(`
local fields = call('HMGET', keyOf(ARGV[1]), 'status', 'event', 'started')
if not fields[1] then return {} end
local fresh = tonumber(fields[2]) - tonumber(ARGV[2])
local reports = {}
if fresh > 0 then reports = call('LRANGE', keyOf(ARGV[1]) .. ':events', -fresh, -1) end
return { fields[1], fields[2], fields[3] or '', reports }
`);

/** Extends the leases of runs, and returns those that are no longer active. ARGV: lease in microseconds, seconds, IDs. */
export const RENEW = script(`
keepIndexes(tonumber(ARGV[2]))
local gone = {}
for i = 3, #ARGV do
  if call('ZSCORE', ACTIVE, ARGV[i]) then
    call('ZADD', ACTIVE, text(now() + tonumber(ARGV[1])), ARGV[i])
    call('EXPIRE', keyOf(ARGV[i]), ARGV[2])
  else
    gone[#gone + 1] = ARGV[i]
  end
end
return gone
`);

/**
 * Takes over the runs whose lease has ended, and returns their IDs. Also forgets runs that have expired. ARGV: lease in
 * microseconds, most runs, seconds.
 */
export const ADOPT = script(`
keepIndexes(tonumber(ARGV[3]))
for _, id in ipairs(call('ZRANGE', RUNS, 0, -1)) do
  if call('EXISTS', keyOf(id)) == 0 then unlist(id) end
end
local taken = {}
for _, id in ipairs(call('ZRANGEBYSCORE', ACTIVE, '-inf', text(now()), 'LIMIT', 0, ARGV[2])) do
  if call('EXISTS', keyOf(id)) == 0 then
    stop(id)
  else
    call('ZADD', ACTIVE, text(now() + tonumber(ARGV[1])), id)
    taken[#taken + 1] = id
  end
end
return taken
`);

/** Ends the leases of runs, so that another host looks after them. ARGV: IDs. */
export const RELEASE = script(`
for _, id in ipairs(ARGV) do
  call('ZADD', ACTIVE, 'XX', 0, id)
  publish(id, 'released')
end
`);

/**
 * Notes the keys of a run's files before they are stored. ARGV: ID, seconds, 1 if the run must be active, keys. Returns 1,
 * or 0 if the run is not active.
 */
export const NOTE_BLOBS = script(`
local set, status = keyOf(ARGV[1]) .. ':blobs', call('HGET', keyOf(ARGV[1]), 'status')
if ARGV[3] == '1' and (not status or FINAL[status]) then return 0 end
for i = 4, #ARGV do call('SADD', set, ARGV[i]) end
call('EXPIRE', set, ARGV[2])
return 1
`);
