#include "lib/pipeline/follow_connections.hpp"

#include "lib/meter/open_connections.hpp"
#include "lib/packet/transport.hpp"
#include "lib/pipeline/tcp_connection.hpp"
#include "lib/table/worker_tables.hpp"

namespace sluice {
namespace {

// Where the bucket with that line is filed; nullptr: nowhere any more.
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

void tell(const ConnectionSegment& segment, ConnectionLanes::Ring& ring, CoreState& core) noexcept {
    ConnectionSegment* const place = ring.next();
    if (place == nullptr) {
        core.counters.by_table_event[static_cast<std::size_t>(TableEvent::ConnectionUntold)].add(1);
        return;
    }
    *place = segment;
    ring.commit();
}

// Those that count the connection as open too: most often nobody, which one look tells, however
// many workers there are.
void tell_others(const ConnectionSegment& segment, CoreState& core) noexcept {
    const WorkerTables& all = *core.buckets.worker_tables();
    const std::size_t me = core.buckets.worker();
    all.connection_owners().for_each(segment.digest, [&](std::size_t other) {
        if (other != me && all.has_connection(other, segment.digest)) {
            tell(segment, all.connection_lanes().between(me, other), core);
        }
    });
}

}  // namespace

void follow_segment(const ConnectionSegment& segment, CoreState& core, Now now) noexcept {
    LinePool& pool = core.buckets.registry.pool();
    PoolLine line = pool.index().first(segment.digest);
    while (line != kNoLine) {
        const IndexedLine indexed = pool.at<IndexedLine>(line);
        if (indexed.digest == segment.digest) {
            follow_one(line, segment, core, now);
        }
        line = indexed.next;
    }
}

void follow_row(const Burst& burst, std::size_t row, CoreState& core, Now now) noexcept {
    if (!has_row(burst.headers().present_rows(Field::TcpFlags), row)) {
        return;
    }
    const PacketHeaders& headers = burst.headers_of(row);
    const ByteView frame = burst.frame(row).bytes;
    if (headers.l4_at + kTcpMinSize <= frame.size()) {
        const ConnectionSegment segment =
            connection_segment(burst.ends_of(row, core.hash), headers, frame);
        follow_segment(segment, core, now);
        if (core.buckets.worker_tables() != nullptr) {
            tell_others(segment, core);
        }
    }
}

void hear_of_connections(CoreState& core, Now now) noexcept {
    const WorkerTables* const all = core.buckets.worker_tables();
    if (all == nullptr) {
        return;
    }
    const std::size_t me = core.buckets.worker();
    for (std::size_t other = 0; other < all->workers(); ++other) {
        if (other == me) {
            continue;
        }
        all->connection_lanes().between(other, me).drain(
            [&](const ConnectionSegment& segment) { follow_segment(segment, core, now); });
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
