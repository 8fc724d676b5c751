#!lua name=sl1
-- The store's side of limits that several boxes share: a batch of amounts is charged, and how its
-- keys stand is given back, as one atomic step. The same arithmetic is in
-- tests/unit/control/store/store_model.cpp.
--
-- A partition of a cluster is one hash:
--   b        born (random), its clock in us, M
--   n<slot>  of the node in that slot: incarnation, number of its last batch, what of that batch was
--            not added (pairs of bytes: entry, flag)
--   <key>    9 bytes: digest and step of coarsening. Of a bucket: till, units owed, as of (us),
--            part of a unit that is paid already. Of a window: till, epoch, count, count before, length,
--            also of one that is asked about; of one that begins with its key: till, beginning (us),
--            count. Of a log that is asked about: till, a byte, then of each charge 12 bytes: when (us),
--            units. Of gauges: till, then of each box 18 bytes: slot, end of its lease (us), open
--            connections
-- Invariants: the clock never goes back and moves by the callers' monotonic clocks alone; TIME starts
-- it. A key is forgotten after `till`, seconds of that clock, when nothing of it counts any more: no
-- expiry of the server, whose clock may be set. Whatever is rounded leaves more owed, never less.
local REVISION = 6
local MOST = 2 ^ 53 -- doubles hold each whole number up to it
local UNDER = 1 - 2 ^ -50 -- more than the rounding of one product and sum
local STEPS = 2 ^ 44 -- a part of a unit is kept in so many steps
local LESS = 2 ^ -8 -- of such a step: more than the rounding of a sum below 2
local KEEP = 60 -- seconds beyond the last effect of a key
local LATEST = 2 ^ 32 - 1
local SKEW = 1000000 -- us that a window may open ahead of time
local HOUR = 3600000000 -- us beyond any clock of its own that the store takes a reckoning for
local APPLIED, GAP, FENCED = 0, 1, 2
local EXPIRED, SKEWED, REFUSED = 1, 2, 3
local DECLARE, WINDOW, ASK = 1, 2, 4 -- bits of an entry's kind
local BY_CLOCK, BY_KEY = 3, 4 -- how long an asked window lasts: from a time of UTC, from its first unit
local GAUGE, ONE_GAUGE = 5, 18 -- how long a gauge lasts: by its lease; bytes of one
local LOGGED, ONE_CHARGE, MOST_LOGGED = 6, 12, 1024 -- a unit of a log lasts for its window; bytes; units of one

local floor, max, min, pack, unpack_struct -- not to be seen yet while the library loads

local function begin()
  floor, max, min = math.floor, math.max, math.min
  pack, unpack_struct = struct.pack, struct.unpack
end

local function utc()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

-- False of NaN too. What a box cannot have meant is refused, and nothing of its batch is charged.
local function is_number(x, least)
  return x >= least and x <= MOST
end

-- The clock of a partition as its caller reckons it.
local function moved_on(clock, reckoned, latest)
  if not is_number(reckoned, 0) then return clock end
  return max(clock, min(reckoned, max(clock, latest) + HOUR))
end

-- Operators instead of calls of `math` from here on: calls are half of what a key costs.
local function till(us)
  local seconds = us / 1000000
  local part = seconds % 1
  seconds = seconds - part + (part > 0 and KEEP + 1 or KEEP)
  return seconds < LATEST and seconds or LATEST
end

-- What a bucket owes now, and the part of the next unit that is paid.
local function owed(value, now, rate)
  if not value or #value ~= 28 then return 0, now, 0 end
  local ends, level, at, part = unpack_struct('<I4ddd', value)
  if ends * 1000000 < now then return 0, now, 0 end
  if now <= at then return level, at, part end
  local credit = (now - at) * rate * UNDER + part
  if credit >= level then return 0, now, 0 end
  local rest = credit % 1
  local steps = rest * STEPS - LESS
  return level - (credit - rest), now, steps > 0 and (steps - steps % 1) / STEPS or 0
end

local function charge_bucket(value, now, rate, units, declares)
  local level, at, part = owed(value, now, rate)
  if not declares then
    level = level + units
  elseif units > level then
    level, part = units, 0
  end
  if level > MOST then level = MOST end
  return pack('<I4ddd', till(now + level / rate), level, at, part), level
end

-- A window of another length goes on where both overlap: what was used stays used.
local function same_length(epoch, count, before, length, k, to, lasts)
  if (epoch + 1) * length > k * to then return k, count, before end
  if lasts == 2 and (epoch + 2) * length > k * to then return k, 0, count end
  return k, 0, 0
end

local function window(value, now, k, term)
  if not value or #value ~= 36 then return nil end
  local ends, epoch, count, before, length = unpack_struct('<I4dddd', value)
  if ends * 1000000 < now then return nil end
  if length == term.length then return epoch, count, before end
  return same_length(epoch, count, before, length, k, term.length, term.lasts)
end

local function more(count, units, declares)
  local sum = declares and (units > count and units or count) or count + units
  return sum < MOST and sum or MOST
end

-- -> the value to keep, nil where it stays; count, count before, epoch, flag
local function charge_window(value, now, latest, term, k, units, declares)
  local epoch, count, before = window(value, now, k, term)
  local length, lasts = term.length, term.lasts
  if k * length - term.phase > latest + (SKEW < length and SKEW or length) then
    if not epoch then epoch, count, before = floor((now + term.phase) / length), 0, 0 end
    return nil, count, before, epoch, SKEWED
  end
  if not epoch then
    epoch, count, before = k, more(0, units, declares), 0
  elseif k > epoch then
    before = k == epoch + 1 and count or 0
    epoch, count = k, more(0, units, declares)
  elseif k == epoch then
    count = more(count, units, declares)
  elseif k == epoch - 1 and lasts == 2 then
    before = more(before, units, declares)
  else
    return nil, count, before, epoch, EXPIRED
  end
  local last, least = (epoch + lasts) * length - term.phase, now + lasts * length
  if last < least then last = least end
  return pack('<I4dddd', till(last), epoch, count, before, length), count, before, epoch, 0
end

-- A window that is asked about and begins with its key, by the partition's clock: where it began,
-- and what counts in it.
local function key_window(value, now, term)
  if value and #value == 20 then
    local ends, start, count = unpack_struct('<I4dd', value)
    if ends * 1000000 >= now and start + term.length > now then return start, count end
  end
  return now, 0
end

-- The charges of a log that count now, by the partition's clock, their sum, and when the first was.
local function logged(value, now, term)
  if not value or #value % ONE_CHARGE ~= 5 then return '', 0, now end
  for at = 6, #value, ONE_CHARGE do
    local first = unpack_struct('<d', value, at)
    if first + term.length > now then
      local units = 0
      for each = at, #value, ONE_CHARGE do
        units = units + unpack_struct('<I4', value, each + 8)
      end
      return value:sub(at), units, first
    end
  end
  return '', 0, now
end

local function log_charge(value, now, term, units)
  if units == 0 then return nil end
  local kept = logged(value, now, term)
  return pack('<I4B', till(now + term.length), LOGGED) .. kept .. pack('<dI4', now, units)
end

-- The UTC that asked windows go by: the store's, unless that was set to more than an hour beyond all
-- that boxes have seen pass. Then the partition's clock is: a wrong year opens no window.
local function window_utc(now, latest)
  return latest - now > HOUR and now or latest
end

-- One that begins by UTC, kept as those are that boxes number by themselves, so that both count as
-- one: the later of the one that is kept and of the one that the store's time is in.
local function clock_window(value, now, latest, term)
  local k = floor((window_utc(now, latest) + term.phase) / term.length)
  local epoch, count, before = window(value, now, k, term)
  if not epoch or epoch < k - 1 then return k, 0, 0 end
  if epoch == k - 1 then return k, 0, count end
  if epoch > k + 1 then return k, count, before end -- opened while a clock was wrong
  return epoch, count, before
end

-- Of what is asked about: what is used, and us until less is: until the next unit is paid, the
-- window is over, or the first charge is of longer ago than it.
local function used(value, now, latest, term)
  if term.lasts == 0 then
    local level, _, part = owed(value, now, term.rate)
    return level, level > 0 and (1 - part) / term.rate or 0
  end
  if term.lasts == BY_KEY then
    local start, count = key_window(value, now, term)
    return count, start + term.length - now
  end
  if term.lasts == LOGGED then
    local _, units, first = logged(value, now, term)
    return units, first + term.length - now
  end
  local epoch, count = clock_window(value, now, latest, term)
  return count, (epoch + 1) * term.length - term.phase - window_utc(now, latest)
end

-- Charged where all of it has room below `most`, and else not at all. -> the value to keep, nil where
-- it stays; what is used, us until less is, flag
local function ask(value, now, latest, term, units, most)
  local level, rest = used(value, now, latest, term)
  if level + units > most then return nil, level, rest, REFUSED end
  if term.lasts == 0 then
    return charge_bucket(value, now, term.rate, units, false), level + units, 0, 0
  end
  if term.lasts == BY_KEY then
    local start, count = key_window(value, now, term)
    return pack('<I4dd', till(start + term.length), start, count + units), count + units, rest, 0
  end
  if term.lasts == LOGGED then
    return log_charge(value, now, term, units), level + units, rest, 0
  end
  local epoch, count, before = clock_window(value, now, latest, term)
  local last, least = (epoch + 1) * term.length - term.phase, now + term.length
  if last < least then last = least end
  return pack('<I4dddd', till(last), epoch, count + units, before, term.length), count + units, rest, 0
end

-- Gauges of other boxes that count now, their sum, and when the last of them ends.
local function others(value, now, slot)
  local rest, sum, last = '', 0, 0
  if not value or (#value - 4) % ONE_GAUGE ~= 0 then return rest, sum, last end
  for at = 5, #value, ONE_GAUGE do
    local its, ends, units = unpack_struct('<Hdd', value, at)
    if its ~= slot and ends > now then
      rest, sum = rest .. value:sub(at, at + ONE_GAUGE - 1), sum + units
      if ends > last then last = ends end
    end
  end
  return rest, sum < MOST and sum or MOST, last
end

-- A gauge is absolute: said twice it counts once, and 0 takes it away.
local function set_gauge(value, now, term, units)
  local rest, sum, last = others(value, now, term.slot)
  if units > 0 then
    local ends = now + term.length / 1000
    rest = rest .. pack('<Hdd', term.slot, ends, units)
    if ends > last then last = ends end
  end
  return pack('<I4', till(last > now and last or now)) .. rest, sum
end

-- Terms that entries refer to: of a bucket its rate, of a window its length, phase and how long it lasts,
-- of a gauge its lease (ns) and the caller's slot.
local function read_terms(blob, slot)
  local terms, at = {}, 1
  while at <= #blob do
    local first, second, lasts
    first, second, lasts, at = unpack_struct('<ddB', blob, at)
    local has_rate = lasts == 0 or lasts == GAUGE
    if not is_number(first, 1) or not is_number(second, has_rate and 1 or 0) or lasts > LOGGED then
      return nil
    end
    terms[#terms + 1] = {rate = second * 1000 / first, length = first, phase = second, lasts = lasts, slot = slot}
  end
  return terms
end

-- Of each entry six values: key, whether it declares, its limit, units, window, the most that an
-- asked one may fill. nil: one is none.
local function read_entries(blob, terms)
  local entries, at, n, size = {}, 1, 0, #blob
  while at <= size do
    local key, kind, term, units, epoch, most
    key, kind, term, units, at = unpack_struct('<c9BBd', blob, at)
    local its = terms[term + 1]
    if not its or units ~= units or units < 0 or units > MOST then return nil end
    if kind == ASK then
      most, at = unpack_struct('<d', blob, at)
      if its.lasts == 1 or its.lasts == 2 or its.lasts == GAUGE or not is_number(most, 0) then
        return nil
      end
      if its.lasts == LOGGED and most > MOST_LOGGED then return nil end
    elseif kind >= WINDOW then
      epoch, at = unpack_struct('<d', blob, at)
      if its.lasts == 0 or its.lasts > 2 or not is_number(epoch, -MOST) then return nil end
    elseif its.lasts ~= 0 and its.lasts ~= GAUGE then
      return nil
    end
    entries[n + 1], entries[n + 2], entries[n + 3], entries[n + 4], entries[n + 5], entries[n + 6] =
      key, kind == DECLARE or kind == WINDOW + DECLARE, its, units, epoch, most
    n = n + 6
  end
  return entries, n
end

-- Random keys are looked at, more where keys are new, and forgotten when their time is over.
local function forget(partition, now, added)
  for _ = 1, 4 do
    local looked = added + 2
    local found = redis.call('HRANDFIELD', partition, -looked, 'WITHVALUES')
    local gone = {}
    for i = 1, #found, 2 do
      if #found[i] == 9 and unpack_struct('<I4', found[i + 1]) * 1000000 < now then
        gone[#gone + 1] = found[i]
      end
    end
    if #gone > 0 then redis.call('HDEL', partition, unpack(gone)) end
    if #gone * 4 <= looked then return end
  end
end

local function flags_of(text)
  local flags = {}
  for i = 1, #text, 2 do flags[text:byte(i)] = text:byte(i + 1) end
  return flags
end

-- The same batch again: read, nothing charged.
local function tell_again(out, entries, last, values, now, latest, flags)
  for at = 0, last - 6, 6 do
    local i = at / 6 + 1
    local value, term, k = values[i + 2], entries[at + 3], entries[at + 5]
    if entries[at + 6] then
      local level, rest = used(value, now, latest, term)
      out[#out + 1] = level
      out[#out + 1] = rest
      out[#out + 1] = flags[i] or 0
    elseif k then
      local epoch, count, before = window(value, now, k, term)
      if not epoch then epoch, count, before = k, 0, 0 end
      out[#out + 1] = count
      out[#out + 1] = before
      out[#out + 1] = epoch
      out[#out + 1] = flags[i] or 0
    elseif term.lasts == GAUGE then
      local _, sum = others(value, now, term.slot)
      out[#out + 1] = sum
    else
      out[#out + 1] = (owed(value, now, term.rate))
    end
  end
  return out
end

-- Fills `changes`, of which `place` says where a key that comes twice is. -> what was not added
local function apply(out, entries, last, values, now, latest, changes)
  local place, flags, n, m = {}, '', #out, #changes
  for at = 0, last - 6, 6 do
    local i = at / 6 + 1
    local key, declares, term, units, epoch, most =
      entries[at + 1], entries[at + 2], entries[at + 3], entries[at + 4], entries[at + 5], entries[at + 6]
    local former, value = place[key], nil
    local before = former and changes[former] or values[i + 2]
    if most then
      local flag
      value, out[n + 1], out[n + 2], flag = ask(before, now, latest, term, units, most)
      out[n + 3] = flag
      n = n + 3
      if flag ~= 0 then flags = flags .. string.char(i, flag) end
    elseif epoch then
      local count, previous, opened, flag
      value, count, previous, opened, flag = charge_window(before, now, latest, term, epoch, units, declares)
      out[n + 1], out[n + 2], out[n + 3], out[n + 4] = count, previous, opened, flag
      n = n + 4
      if flag ~= 0 then flags = flags .. string.char(i, flag) end
    elseif term.lasts == GAUGE then
      value, out[n + 1] = set_gauge(before, now, term, units)
      n = n + 1
    else
      value, out[n + 1] = charge_bucket(before, now, term.rate, units, declares)
      n = n + 1
    end
    if value and former then
      changes[former] = value
    elseif value then
      changes[m + 1], changes[m + 2] = key, value
      m = m + 2
      place[key] = m
    end
  end
  return flags
end

-- KEYS: the partition. ARGS: who calls and with which batch, terms, entries, in bytes.
-- -> outcome, born, clock, UTC, number of the last batch, and of each entry of an applied batch its
-- level, or its count, count before, epoch and flag; of what was asked what is used, us until less
-- is, and flag. Of who is fenced: M and the incarnation that holds the slot instead of
-- a number. `again`: a batch that is there already writes something all the same, so that a WAIT
-- behind it waits for what it was.
local function sync(keys, args)
  begin()
  local size, slot, again, incarnation, seq, reckoned, known, birth =
    unpack_struct('<HHBddddd', args[1])
  local terms = read_terms(args[2], slot)
  local entries, count
  if terms then entries, count = read_entries(args[3], terms) end
  if not entries or not is_number(seq, 0) or not is_number(incarnation, 0) then
    return redis.error_reply('ERR sl1: an amount, its limit or its number is none')
  end
  local field, fields = 'n' .. slot, {}
  for at = 1, count, 6 do fields[(at + 5) / 6] = entries[at] end
  local values = redis.call('HMGET', keys[1], 'b', field, unpack(fields))
  local now = utc()
  local latest, born, clock, machines = now, birth, now, size
  if values[1] then
    born, clock, machines = unpack_struct('<ddH', values[1])
    if known == born then clock = moved_on(clock, reckoned, latest) end
  end
  local held, last, flags = incarnation, 0, ''
  if values[2] then
    held, last = unpack_struct('<dd', values[2])
    flags = values[2]:sub(17)
    if incarnation > held then held, last, flags = incarnation, 0, '' end
  end
  local out = {APPLIED, born, clock, latest, last}
  local state = pack('<ddH', born, clock, machines)
  if machines ~= size or slot >= size or incarnation < held then
    return {FENCED, born, clock, latest, machines, held}
  elseif seq == last and last > 0 then
    if again ~= 0 then redis.call('HSET', keys[1], 'b', state) end
    return tell_again(out, entries, count, values, clock, max(clock, latest), flags_of(flags))
  elseif seq ~= last + 1 then
    out[1] = GAP
    if not values[1] then redis.call('HSET', keys[1], 'b', state) end
    return out
  end
  out[5] = seq
  local changes = {'b', state, field, ''}
  local not_added = apply(out, entries, count, values, clock, max(clock, latest), changes)
  changes[4] = pack('<dd', incarnation, seq) .. not_added
  local added = redis.call('HSET', keys[1], unpack(changes))
  forget(keys[1], clock, added)
  return out
end

-- KEYS: the partition. ARGS: where its caller reckons its clock, and under which birth. Time that
-- nobody told an amount in is not lost when the caller is no more.
-- -> revision, born, clock; zeros of a partition that has not begun
local function tick(keys, args)
  begin()
  local reckoned, known = unpack_struct('<dd', args[1])
  local state = redis.call('HGET', keys[1], 'b')
  if not state then return {REVISION, 0, 0} end
  local born, clock, machines = unpack_struct('<ddH', state)
  if known == born then
    clock = moved_on(clock, reckoned, utc())
    redis.call('HSET', keys[1], 'b', pack('<ddH', born, clock, machines))
  end
  return {REVISION, born, clock}
end

-- Slots of a cluster: a hash with its size `m`, the latest incarnation `i`, the digest `d` of the
-- secret by which its boxes name keys and, of each slot that is held, `s<slot>`. A node keeps its
-- slot by its name until it is forgotten.
local function read_roster(roster)
  local all, held, size, latest = redis.call('HGETALL', roster), {}, nil, 0
  for i = 1, #all, 2 do
    local slot = all[i]:match('^s(%d+)$')
    if slot then
      held[tonumber(slot)] = cmsgpack.unpack(all[i + 1])
    elseif all[i] == 'm' then
      size = tonumber(all[i + 1])
    elseif all[i] == 'i' then
      latest = tonumber(all[i + 1])
    end
  end
  return held, size, latest
end

local function slot_of(held, size, node)
  local free
  for slot = 0, size - 1 do
    if held[slot] and held[slot].node == node then return slot end
    if not held[slot] and not free then free = slot end
  end
  return free
end

local function was_replaced(holder, life)
  for _, former in ipairs(holder.former) do
    if former == life then return true end
  end
  return false
end

local function whole(number)
  return string.format('%.0f', number)
end

-- A name is its holder's for as long as the holder joins again, and some time more.
local LEASE = 5000000 -- us

local function is_there(holder, now)
  return holder.life ~= '' and not holder.left and now >= holder.seen and now - holder.seen < LEASE
end

local JOINED, OTHER_SIZE, FULL, REPLACED, OTHER_SECRET, NAME_HELD = 0, 1, 2, 3, 4, 5

-- KEYS: the roster. ARGS: M, node, life, the latest incarnation that the node has seen, the digest of
-- its secret. The first box's digest is the cluster's.
-- -> outcome, slot, incarnation, M of the cluster, revision of this function, UTC
local function join(keys, args)
  begin()
  local asked, node, life, seen = tonumber(args[1]), args[2], args[3], tonumber(args[4])
  local digest, named = args[5] or '', redis.call('HGET', keys[1], 'd')
  local held, size, latest = read_roster(keys[1])
  local now = utc()
  if size and size ~= asked then return {OTHER_SIZE, 0, 0, size, REVISION, now} end
  if named and digest ~= '' and digest ~= named then return {OTHER_SECRET, 0, 0, asked, REVISION, now} end
  local slot = slot_of(held, asked, node)
  if not slot then return {FULL, 0, 0, asked, REVISION, now} end
  local holder = held[slot]
  if not holder then
    holder = {node = node, life = '', incarnation = 0, former = {}}
  elseif was_replaced(holder, life) then
    return {REPLACED, slot, holder.incarnation, asked, REVISION, now}
  elseif holder.life ~= life and is_there(holder, now) then
    return {NAME_HELD, slot, holder.incarnation, asked, REVISION, now}
  end
  if holder.life ~= life or holder.incarnation < seen then
    if holder.life ~= life and holder.life ~= '' then
      table.insert(holder.former, 1, holder.life)
      holder.former[9] = nil
    end
    holder.life = life
    holder.incarnation = max(now, latest + 1, seen + 1)
  end
  holder.seen, holder.left = now, nil
  if not named and digest ~= '' then redis.call('HSET', keys[1], 'd', digest) end
  redis.call('HSET', keys[1], 'm', asked, 'i', whole(max(latest, holder.incarnation)), 's' .. slot,
    cmsgpack.pack(holder))
  return {JOINED, slot, holder.incarnation, asked, REVISION, now}
end

-- KEYS: the roster. ARGS: node and life of a box that ends: its name is free for its next life, and
-- its slot stays its own. -> 1, or 0 where another life has the name
local function leave(keys, args)
  begin()
  for slot, holder in pairs((read_roster(keys[1]))) do
    if holder.node == args[1] and holder.life == args[2] then
      holder.left = true
      redis.call('HSET', keys[1], 's' .. slot, cmsgpack.pack(holder))
      return 1
    end
  end
  return 0
end

-- An operator gives the cluster another secret, by its digest: boxes with the one before are refused.
local function rekey(keys, args)
  redis.call('HSET', keys[1], 'd', args[1])
  return 1
end

-- An operator takes the slot from a node that does not come back. -> slot, or -1
local function release(keys, args)
  for slot, holder in pairs((read_roster(keys[1]))) do
    if holder.node == args[1] then
      redis.call('HDEL', keys[1], 's' .. slot)
      return slot
    end
  end
  return -1
end

-- KEYS: the roster and each partition. ARGS: the new M. -> M, or the slot that is held beyond it as
-- a negative number, less one
local function resize(keys, args)
  begin()
  local to = tonumber(args[1])
  if redis.call('HEXISTS', keys[1], 'b') == 1 then
    local born, clock = unpack_struct('<ddH', redis.call('HGET', keys[1], 'b'))
    redis.call('HSET', keys[1], 'b', pack('<ddH', born, clock, to))
  elseif redis.call('HEXISTS', keys[1], 'm') == 1 then
    for slot in pairs((read_roster(keys[1]))) do
      if slot >= to then return -1 - slot end
    end
    redis.call('HSET', keys[1], 'm', to)
  end
  return to
end

-- KEYS: the roster or a partition. -> UTC, revision, M, then of a roster the secret's digest and
-- slot, node, incarnation, life and UTC when last seen of each; of a partition born, clock, keys,
-- then slot, incarnation and last batch of each node
local function status(keys)
  begin()
  local now = utc()
  local state = redis.call('HGET', keys[1], 'b')
  if not state then
    local held, size = read_roster(keys[1])
    local out = {now, REVISION, size or 0, redis.call('HGET', keys[1], 'd') or ''}
    for slot, holder in pairs(held) do
      out[#out + 1] = {slot, holder.node, holder.incarnation, holder.life, holder.seen}
    end
    return out
  end
  local born, clock, size = unpack_struct('<ddH', state)
  local out, nodes = {now, REVISION, size, born, clock, 0}, 0
  for slot = 0, size - 1 do
    local node = redis.call('HGET', keys[1], 'n' .. slot)
    if node then
      local incarnation, seq = unpack_struct('<dd', node)
      out[#out + 1] = {slot, incarnation, seq}
      nodes = nodes + 1
    end
  end
  out[6] = redis.call('HLEN', keys[1]) - nodes - 1
  return out
end

redis.register_function('sl1_sync', sync)
redis.register_function('sl1_tick', tick)
redis.register_function('sl1_join', join)
redis.register_function('sl1_leave', leave)
redis.register_function('sl1_rekey', rekey)
redis.register_function('sl1_release', release)
redis.register_function('sl1_resize', resize)
redis.register_function{function_name = 'sl1_status', callback = status, flags = {'no-writes'}}
