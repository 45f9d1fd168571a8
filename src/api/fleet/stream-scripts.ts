import { redisScript } from '../../io/redis/run-script.ts';

/**
 * The keys, for scripts that get the prefix as KEYS[1]. `PREFIX:streams:TENANT` holds the configurations of a tenant's
 * streams by name. `PREFIX:stream:ID` holds what is known of a stream: the number of its entries and the checksum of the
 * last one, the number of entries in its saved state (`base`), and the size of the entries after that, which are the list
 * `PREFIX:stream:ID:log`. `PREFIX:stream:ID:turn` is the host that may write next, after it was too slow once.
 *
 * As in `run-scripts.ts`, what needs memory comes first, so that a script of a full Redis has no effect.
 */
const COMMON = `
local call = redis.call
local P = KEYS[1]
local function namesOf(tenant) return P .. ':streams:' .. tenant end
local function keyOf(id) return P .. ':stream:' .. id end
local function logOf(id) return keyOf(id) .. ':log' end
local function partOf(id, token, index) return keyOf(id) .. ':state:' .. token .. ':' .. index end
local function dropState(id, token, parts)
  for index = 0, tonumber(parts or 0) - 1 do call('UNLINK', partOf(id, token, index)) end
end
`;

const script = (text: string): ReturnType<typeof redisScript> => redisScript(COMMON + text);

/** The size of entries that one reading returns, unless one entry is larger. */
const READ_BYTES = 4 * 2 ** 20;

/**
 * Creates a stream, unless its name is in use. ARGV: digest of the tenant, name, configuration, ID, most streams. Returns
 * `created`, `full`, or `exists` and the other configuration.
 */
export const CREATE_STREAM = script(`
local names = namesOf(ARGV[1])
local known = call('HGET', names, ARGV[2])
if known then return { 'exists', known } end
if call('HLEN', names) >= tonumber(ARGV[5]) then return { 'full' } end
call('HSET', keyOf(ARGV[4]), 'sequence', '0', 'check', '0', 'base', '0', 'bytes', '0')
call('HSET', names, ARGV[2], ARGV[3])
return { 'created' }
`);

/**
 * Returns the entries of a stream after one of them. ARGV: ID, number of the entry. Returns `entries`, the number of all
 * entries, the checksum of the last one, the size after the saved state, and some entries; `state` and the fields of the
 * saved state if the entries are no longer there; `unknown`.
 */
export const READ_STREAM = script(`
local key, after = keyOf(ARGV[1]), tonumber(ARGV[2])
local fields = call('HMGET', key, 'sequence', 'check', 'bytes', 'base')
if not fields[1] then return { 'unknown' } end
local base = tonumber(fields[4])
if after < base then return { 'state', unpack(call('HMGET', key, 'base', 'state', 'parts', 'digest', 'baseCheck')) } end
local entries, size, index = {}, 0, after - base
while size < ${String(READ_BYTES)} do
  local some = call('LRANGE', logOf(ARGV[1]), index, index + 19)
  for _, entry in ipairs(some) do
    entries[#entries + 1] = entry
    size = size + #entry
  end
  if #some < 20 then break end
  index = index + 20
end
return { 'entries', fields[1], fields[2], fields[3], entries }
`);

/**
 * Appends entries, if the caller knows all earlier ones and no other host has its turn. ARGV: ID, number of entries that
 * the caller knows, checksum of the last one, token of the caller, milliseconds of a turn, new checksum, entries. Returns
 * `appended` and the size after the saved state; `behind`, and the next turn is the caller's; `wait`; `unknown`.
 */
export const APPEND_TO_STREAM = script(`
local key, turn = keyOf(ARGV[1]), keyOf(ARGV[1]) .. ':turn'
local fields = call('HMGET', key, 'sequence', 'check')
if not fields[1] then return { 'unknown' } end
local holder = call('GET', turn)
if holder and holder ~= ARGV[4] then return { 'wait' } end
if fields[1] ~= ARGV[2] or fields[2] ~= ARGV[3] then
  call('SET', turn, ARGV[4], 'PX', ARGV[5])
  return { 'behind' }
end
local size = 0
for index = 7, #ARGV do
  call('RPUSH', logOf(ARGV[1]), ARGV[index])
  size = size + #ARGV[index]
end
call('HSET', key, 'sequence', string.format('%.0f', tonumber(ARGV[2]) + #ARGV - 6), 'check', ARGV[6])
call('DEL', turn)
return { 'appended', call('HINCRBY', key, 'bytes', size) }
`);

/**
 * Makes a stored state the saved one, and removes the entries that it contains. ARGV: ID, number of entries in the state,
 * checksum of the last one, token of the state, number of its parts, its digest. Returns `saved`, `older` if there is a
 * newer state or other entries, or `unknown`.
 */
export const SAVE_STREAM = script(`
local id, key = ARGV[1], keyOf(ARGV[1])
local fields = call('HMGET', key, 'base', 'state', 'parts')
if not fields[1] then return 'unknown' end
local count = tonumber(ARGV[2]) - tonumber(fields[1])
local last = count > 0 and call('LINDEX', logOf(id), count - 1)
if not last or string.sub(last, 1, #ARGV[3]) ~= ARGV[3] then return 'older' end
for index = 0, tonumber(ARGV[5]) - 1 do
  if call('EXISTS', partOf(id, ARGV[4], index)) == 0 then return 'older' end
end
call('HSET', key, 'base', ARGV[2], 'baseCheck', ARGV[3], 'state', ARGV[4], 'parts', ARGV[5], 'digest', ARGV[6])
for index = 0, tonumber(ARGV[5]) - 1 do call('PERSIST', partOf(id, ARGV[4], index)) end
local size = 0
for from = 0, count - 1, 100 do
  for _, entry in ipairs(call('LRANGE', logOf(id), from, math.min(from + 99, count - 1))) do size = size + #entry end
end
call('LTRIM', logOf(id), count, -1)
call('HINCRBY', key, 'bytes', -size)
dropState(id, fields[2], fields[3])
return 'saved'
`);

/** Removes a stream. ARGV: digest of the tenant, name, configuration, ID. Returns whether it was there, as 1 or 0. */
export const REMOVE_STREAM = script(`
local names, key = namesOf(ARGV[1]), keyOf(ARGV[4])
if call('HGET', names, ARGV[2]) ~= ARGV[3] then return 0 end
call('HDEL', names, ARGV[2])
local fields = call('HMGET', key, 'state', 'parts')
dropState(ARGV[4], fields[1], fields[2])
call('UNLINK', key, logOf(ARGV[4]), key .. ':turn')
return 1
`);
