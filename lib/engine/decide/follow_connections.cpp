#include "lib/engine/decide/follow_connections.hpp"

#include "lib/bucket/meter/open_connections.hpp"
#include "lib/bucket/table/worker_tables.hpp"
#include "lib/engine/check/tcp_connection.hpp"
#include "lib/l7/stream/track/segment_bytes.hpp"
#include "lib/packet/transport.hpp"

#include <algorithm>
#include <optional>

namespace sluice {
namespace {

// The entry that the bucket with that line is filed in; nullptr: none any more.
Entry* entry_of(const BucketName& name, PoolLine line, BucketStore& store) noexcept {
    const auto is_it = [line](const Entry* entry) {
        return entry != nullptr && !entry->empty() && entry->cell().rest == line;
    };
    TableKey key;
    key.hash = name.hash;
    key.slot_and_tag = name.slot_and_tag;
    for (Entry* entry :
         {store.keys.find(key), store.parents.find(key), &store.rule_entry(slot_of(key))}) {
        if (is_it(entry)) {
            return entry;
        }
    }
    return nullptr;
}

// The entry says until when the connections of its bucket are open.
void follow_one(PoolLine connection, const ConnectionSegment& segment, CoreState& core,
                Now now) noexcept {
    LinePool& pool = core.buckets.registry.pool();
    const PoolLine bucket = pool.at<OpenConnection>(connection).indexed.owner;
    auto& state = pool.at<OpenConnections>(bucket);
    Entry* entry = state.is_closed() ? nullptr : entry_of(state.name(), bucket, core.buckets);
    if (entry == nullptr) {
        return;
    }
    (void)state.follow(pool, connection, segment, now.at);
    entry->write_instant(state.fresh_from(pool, now.at));
    if (entry->stamp().aggregation_level != 0) {
        core.buckets.note_parent(*entry);
    }
}

void follow_filed(std::uint64_t digest, const ConnectionSegment& segment, CoreState& core,
                  Now now) noexcept {
    LinePool& pool = core.buckets.registry.pool();
    PoolLine line = pool.index().first(digest);
    while (line != kNoLine) {
        const IndexedLine indexed = pool.at<IndexedLine>(line);
        if (indexed.digest == digest) {
            follow_one(line, segment, core, now);
        }
        line = indexed.next;
    }
}

void notify(const ConnectionSegment& segment, ConnectionLanes::Ring& ring,
            CoreState& core) noexcept {
    if (!ring.put(segment)) {
        core.counters.by_table_event[static_cast<std::size_t>(TableEvent::ConnectionUntold)].add(1);
    }
}

// Notifies the workers that count the connection as open too: most often none, which one look
// tells, however many workers there are.
void notify_others(const ConnectionSegment& segment, CoreState& core) noexcept {
    const WorkerTables& all = *core.buckets.worker_tables();
    const std::size_t me = core.buckets.worker();
    const std::uint64_t half_open = half_open_digest(segment.digest);
    for (const std::uint64_t digest : {segment.digest, half_open}) {
        all.connection_owners().for_each(digest, [&](std::size_t other) {
            const bool was_told = digest == half_open && all.has_connection(other, segment.digest);
            if (other != me && !was_told && all.has_connection(other, digest)) {
                notify(segment, core.connection_lanes->between(me, other), core);
            }
        });
    }
}

void follow_everywhere(const ConnectionSegment& segment, CoreState& core, Now now) noexcept {
    follow_segment(segment, core, now);
    if (core.buckets.worker_tables() != nullptr && core.connection_lanes != nullptr) {
        notify_others(segment, core);
    }
}

enum class Arrival : std::uint8_t { Certain, Uncertain, Never };

// True of a RST or FIN with options of IP or TCP for which its receiver may throw it away: a
// signature (RFC 2385), a source route, what is not sound. A tracker wants more of a RST, since it
// sees to it that all its receivers read the same.
bool has_doubtful_end(const Burst& burst, std::size_t row) noexcept {
    constexpr std::uint16_t kEnds = 0x05;  // FIN, RST
    return (burst.headers().tcp_flags[row] & kEnds) != 0 &&
           may_be_dropped_for_options(burst.headers_of(row), burst.frame(row).bytes);
}

// A segment's way to a receiver that takes it. From outside it may end behind the box for its TTL
// or its options, or be a fragment that waits for others; with a wrong checksum nobody takes it.
Arrival arrival_of(const ConnectionEnds& ends, const Burst& burst, std::size_t row,
                   CoreState& core) noexcept {
    constexpr std::uint16_t kOpensOrEnds = 0x07;  // FIN, SYN, RST
    const HeaderColumns& columns = burst.headers();
    const bool says_something = (columns.tcp_flags[row] & kOpensOrEnds) != 0 ||
                                (ends.from_outside && columns.payload_len[row] != 0);
    if (!says_something) {
        return Arrival::Certain;
    }
    if (columns.frag[row] != Fragment::None) {
        return ends.from_outside ? Arrival::Uncertain : Arrival::Never;
    }
    const PacketHeaders& headers = burst.headers_of(row);
    const std::uint8_t ttl = std::max(columns.ttl[row], burst.normalization(row).raises_to);
    const bool may_be_lost =
        ends.from_outside && (ttl < kDefaultMinTtl || has_doubtful_end(burst, row));
    const Arrival right = may_be_lost ? Arrival::Uncertain : Arrival::Certain;
    const ChecksumFinding finding = find_checksums(headers, burst.frame(row));
    PortChecksums& checksums = core.checksums.of(headers.port, headers.dir);
    if (finding == ChecksumFinding::Unknown) {
        const bool is_believed =
            core.policy.captured || checksums.state() != PortChecksums::State::Verifying;
        return is_believed ? right : Arrival::Uncertain;
    }
    return checksums.judge(finding).is_wrong ? Arrival::Never : right;
}

// An enforced service's tracker drops what the server would not take, so that it knows which number
// the server expects; it sees both directions, or has not seen the connection begin.
void add_word_of_tracker(const Burst& burst, std::size_t row, ConnectionSegment& segment) noexcept {
    if (!segment.rst || !has_row(burst.of_services(), row)) {
        return;
    }
    const ServicePacket packet = burst.service(row);
    segment.is_tracked = packet.is_enforced() && packet.is_from_client && packet.is_established;
    segment.ends = packet.is_end;
}

// A RST's receiver may hold its timestamp against the SYN's, which nobody here has kept.
bool has_timestamps(const ConnectionSegment& segment, const PacketHeaders& headers,
                    ByteView frame) noexcept {
    if (!segment.rst || segment.from_inside) {
        return false;
    }
    const std::optional<TrackedSegment> read = read_tracked_segment(headers, frame);
    return read && read->timestamps;
}

// True if some connection may be filed here, or at another worker, under that digest.
bool may_have(std::uint64_t digest, const CoreState& core) noexcept {
    bool may = core.buckets.registry.pool().index().first(digest) != kNoLine;
    if (const WorkerTables* const all = core.buckets.worker_tables(); !may && all != nullptr) {
        all->connection_owners().for_each(digest, [&](std::size_t) { may = true; });
    }
    return may;
}

}  // namespace

void follow_segment(const ConnectionSegment& segment, CoreState& core, Now now) noexcept {
    // Half-open ones first: those that begin anew by this segment are filed among them.
    follow_filed(half_open_digest(segment.digest), segment, core, now);
    follow_filed(segment.digest, segment, core, now);
}

void follow_row(const Burst& burst, std::size_t row, CoreState& core, Now now) noexcept {
    if (!has_row(burst.headers().present_rows(Field::TcpFlags), row)) {
        return;
    }
    const PacketHeaders& headers = burst.headers_of(row);
    const ByteView frame = burst.frame(row).bytes;
    if (headers.l4_at + kTcpMinSize <= frame.size()) {
        const ConnectionEnds ends = burst.ends_of(row, core.hash);
        const Arrival arrival =
            may_be_known(ends.digest, core) ? arrival_of(ends, burst, row, core) : Arrival::Never;
        if (arrival != Arrival::Never) {
            ConnectionSegment segment = connection_segment(ends, headers, frame);
            segment.is_uncertain = arrival == Arrival::Uncertain;
            segment.is_stamped = has_timestamps(segment, headers, frame);
            add_word_of_tracker(burst, row, segment);
            follow_everywhere(segment, core, now);
        }
    }
}

bool may_be_known(std::uint64_t digest, const CoreState& core) noexcept {
    return may_have(digest, core) || may_have(half_open_digest(digest), core);
}

bool may_complete(std::uint64_t digest, const CoreState& core) noexcept {
    return may_have(half_open_digest(digest), core) || core.recent_openings.has(digest);
}

bool completes_handshake(const ConnectionStart& start, LimitSlot slot, const CoreState& core,
                         Now now) noexcept {
    const LinePool& pool = core.buckets.registry.pool();
    const std::uint64_t digest = half_open_digest(start.digest);
    PoolLine line = pool.index().first(digest);
    while (line != kNoLine) {
        const auto& indexed = pool.at<IndexedLine>(line);
        if (indexed.digest == digest) {
            const auto& state = pool.at<OpenConnections>(indexed.owner);
            if (!state.is_closed() && state.name().slot() == slot &&
                state.completes(pool, indexed.owner, start, now.at)) {
                return true;
            }
        }
        line = indexed.next;
    }
    return false;
}

void follow_resets(CoreState& core, Now now) noexcept {
    for (const MadeReset& reset : core.answered->resets()) {
        follow_everywhere({.digest = reset.ends.digest,
                           .seq = reset.seq,
                           .from = static_cast<ConnectionEnd>(reset.ends.from_low ? 0 : 1),
                           .rst = true,
                           .from_inside = !reset.ends.from_outside,
                           .is_made_here = true},
                          core, now);
    }
}

void poll_connections(CoreState& core, Now now) noexcept {
    ConnectionLanes* const lanes = core.connection_lanes;
    if (lanes == nullptr || core.buckets.worker_tables() == nullptr) {
        return;
    }
    const std::size_t me = core.buckets.worker();
    for (std::size_t other = 0; other < lanes->workers(); ++other) {
        if (other != me) {
            lanes->between(other, me).drain(
                [&](const ConnectionSegment& segment) { follow_segment(segment, core, now); });
        }
    }
}

void count_connections(CoreState& core) noexcept {
    const DigestIndex& index = core.buckets.registry.pool().index();
    const auto tell = [&](TableEvent event, std::uint64_t count) {
        core.counters.by_table_event[static_cast<std::size_t>(event)].set(count);
    };
    const auto left = [&](Left how) { return index.removed(static_cast<std::size_t>(how)); };
    tell(TableEvent::ConnectionOpened, index.added());
    tell(TableEvent::ConnectionFinished, left(Left::Finished));
    tell(TableEvent::ConnectionReset, left(Left::Reset));
    tell(TableEvent::ConnectionIdle, left(Left::Idle));
    tell(TableEvent::ConnectionForgotten, left(Left::Forgotten));
}

}  // namespace sluice
