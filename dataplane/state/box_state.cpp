#include "dataplane/state/box_state.hpp"

#include "dataplane/read_clock.hpp"
#include "dataplane/state/cluster_secret.hpp"
#include "lib/base/log.hpp"
#include "lib/base/read_file.hpp"
#include "lib/peer/merge/damaged_records.hpp"

#include <algorithm>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

// After the name of a snapshot that may be good and could not be read.
constexpr const char* kUnread = ".unread";

// Lines of 64 bytes for states that do not fit an entry, as a share of the table's keys.
constexpr std::size_t kPoolShare = 2;

// A number for how flows come to workers, as far as it is configured: if it changes, or the keys
// that they are hashed under, keys may come to others.
std::uint64_t rss_mapping_of(const BoxConfig& box, const RssKeys& keys) {
    std::string text;
    for (const PairConfig& pair : box.pairs) {
        text += pair.name + (pair.hand_over ? "/handed" : "");
        for (const PortConfig* side : {&pair.outside, &pair.inside}) {
            text += '/' + std::to_string(static_cast<unsigned>(side->rss)) + '/' +
                    std::to_string(side->queues.value_or(0));
        }
        text += '\n';
    }
    for (const std::uint8_t byte : keys.seed()) {
        text += static_cast<char>(byte);
    }
    return siphash_1_3(HashSecret{}, bytes_of(text));
}

std::uint64_t steady_ns() {
    return static_cast<std::uint64_t>(read_clock(CLOCK_MONOTONIC).count());
}

// When the last debt of a store ends.
Instant last_debt(const BucketStore& store) {
    Instant last{};
    for (std::size_t position = 0; position < store.keys.slots(); ++position) {
        last = std::max(last, store.keys.read(position).fresh_from());
    }
    for (std::size_t position = 0; position < store.parents.slots(); ++position) {
        last = std::max(last, store.parents.read(position).fresh_from());
    }
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
        last = std::max(last, store.rule_entry(static_cast<LimitSlot>(slot)).fresh_from());
    }
    return last;
}

}  // namespace

Result<BoxState> BoxState::open(const BoxConfig& box, std::size_t workers) {
    Result<StateFolder> folder = StateFolder::open(box.state_dir);
    if (!folder) {
        return folder.error();
    }
    std::optional<HashSecret> secret;
    if (box.cluster) {
        const Result<HashSecret> clusters = read_cluster_secret(box.cluster->secret_file);
        if (!clusters) {
            return clusters.error();
        }
        secret = *clusters;
    }
    const FoundRssKeys keys = load_rss_keys(box.state_dir);
    BoxState state{*std::move(folder),
                   {.workers = workers,
                    .keys = box.table_keys,
                    .pool_lines = box.table_keys / kPoolShare,
                    .huge_pages = box.huge_pages != HugePages::None,
                    .rss_mapping = rss_mapping_of(box, keys.keys),
                    .tells_store = box.cluster && box.cluster->store,
                    .secret = secret},
                   keys.keys};
    if (keys.put_aside) {
        state.folder_.note_put_aside();
    }
    if (!keys.kept) {
        state.folder_.note_not_kept();
    }
    state.snapshot_file_ = box.snapshot_file;
    state.snapshot_every_ = box.snapshot_every;
    state.restore_snapshot();
    state.open_region(Mapping::Stores::Kept);
    state.read_slots();
    state.leave_other_names();
    return state;
}

// After a reboot, which has taken the tables away.
void BoxState::restore_snapshot() {
    if (snapshot_file_.empty() || StateRegion::is_there(folder_) ||
        ::access(snapshot_file_.c_str(), F_OK) != 0) {
        return;
    }
    const Result<Done> restored = StateRegion::restore(folder_, snapshot_file_, shape_.huge_pages);
    if (restored) {
        return;
    }
    if (is_about_content(restored.error())) {
        const std::string aside = snapshot_file_ + ".bad";
        (void)::rename(snapshot_file_.c_str(), aside.c_str());
        log_error(restored.error().what + "; it is kept as " + aside);
    } else {
        snapshot_counts_->unread = true;
        log_error(restored.error().what + "; it stays for the next start, and is kept as " +
                  snapshot_file_ + kUnread + " once another is written");
    }
    (void)folder_.put_aside();  // what was made of a part of it
}

void BoxState::write_snapshot() const {
    const std::string keep_as = snapshot_counts_->unread ? snapshot_file_ + kUnread : "";
    const Result<Done> done = region_->write_snapshot(folder_, snapshot_file_, keep_as);
    if (!done) {
        log_error(done.error().what);
        snapshot_counts_->failed.add(1);
        return;
    }
    snapshot_counts_->unread = false;
    struct stat file{};
    (void)::stat(snapshot_file_.c_str(), &file);
    snapshot_counts_->bytes.set(static_cast<std::uint64_t>(file.st_size));
    snapshot_counts_->at.set(steady_ns());
    snapshot_counts_->done.add(1);
}

StateStats BoxState::stats() const {
    StateStats stats{.survives = survives(),
                     .kept = found_.live,
                     .mended = found_.mended,
                     .unknown = found_.unknown,
                     .damaged = found_.damaged,
                     .former_tables = former_ == nullptr ? 0 : former_regions_.size(),
                     .put_aside = folder_.times_put_aside(),
                     .not_kept = folder_.times_not_kept(),
                     .has_snapshots = !snapshot_file_.empty() && survives(),
                     .snapshots = {.done = snapshot_counts_->done.read(),
                                   .failed = snapshot_counts_->failed.read()}};
    if (stats.snapshots.done != 0) {
        stats.snapshots.latest = {.bytes = snapshot_counts_->bytes.read(),
                                  .age_ns = steady_ns() - snapshot_counts_->at.read()};
    }
    return stats;
}

void BoxState::begin_snapshots() {
    if (snapshot_file_.empty() || !survives()) {
        return;
    }
    Result<std::unique_ptr<SnapshotThread>> thread =
        SnapshotThread::start([this] { write_snapshot(); });
    if (thread) {
        snapshot_thread_ = *std::move(thread);
    } else {
        log_error(thread.error().what + "; none is written until there is one");
    }
}

void BoxState::keep_snapshot(std::chrono::steady_clock::time_point now) {
    if (snapshot_file_.empty() || !survives() || now < next_snapshot_) {
        return;
    }
    if (snapshot_thread_ == nullptr) {
        begin_snapshots();
    }
    if (snapshot_thread_ == nullptr) {
        snapshot_counts_->failed.add(1);
        next_snapshot_ = now + snapshot_every_;
    } else if (snapshot_thread_->ask()) {
        next_snapshot_ = now + snapshot_every_;
    }
}

void BoxState::end_snapshots() {
    snapshot_thread_.reset();
    if (!snapshot_file_.empty() && survives()) {
        write_snapshot();
    }
}

// Without a region, keys still owe what lies in the tables that are there.
void BoxState::open_region(Mapping::Stores stores) {
    region_.reset();
    Result<StateRegion> region = StateRegion::open(folder_, shape_, stores);
    if (region) {
        secrets_ = region->secrets();
        region_.emplace(*std::move(region));
        if (!region_->is_kept() && stores == Mapping::Stores::Kept) {
            report_unkept("the tables in " + folder_.path() + " may only be read");
        }
        return;
    }
    inherited_ = StateRegion::heritage(folder_);
    secrets_ = inherited_ ? inherited_->secrets : StateRegion::fresh_secrets(shape_);
    report_unkept(region.error().what);
}

void BoxState::report_unkept(const std::string& why) const {
    folder_.note_not_kept();
    log_error(why + "; buckets will not survive this process");
}

void BoxState::read_slots() {
    slots_ = {};
    const bool taken_up = region_ ? region_->taken_up() : inherited_.has_value();
    if (!taken_up) {
        return;
    }
    Result<std::optional<SlotsImage>> slots =
        store_.load(region_ ? region_->lineage() : inherited_->lineage);
    if (slots && *slots) {
        slots_ = **std::move(slots);
        return;
    }
    if (!slots && !is_about_content(slots.error())) {
        leave_tables(slots.error().what);
        return;
    }
    begin_anew(slots ? "what their entries mean was not kept" : slots.error().what);
}

// A box that comes into a cluster: its keys have the cluster's names from now on.
void BoxState::leave_other_names() {
    if (shape_.secret && secrets_.hash != *shape_.secret) {
        begin_anew("they name their keys by another secret than the cluster's");
        secrets_ = StateRegion::fresh_secrets(shape_);
    }
}

// Leaves the tables: they may be good, and the next start may read what they mean.
void BoxState::leave_tables(const std::string& why) {
    region_.reset();
    inherited_.reset();
    secrets_ = StateRegion::fresh_secrets(shape_);
    report_unkept(why + "; the tables stay for the next start");
}

void BoxState::begin_anew(const std::string& why) {
    if (!region_ && !inherited_) {
        return;
    }
    region_.reset();
    inherited_.reset();
    slots_ = {};
    const Result<std::string> aside = folder_.put_aside();
    log_error("the tables of an earlier dataplane cannot be used: " + why + "; " +
              (aside ? "they are kept as " + *aside : aside.error().what) +
              ", and all buckets begin anew");
    // Tables that could not be moved away are not to be replaced.
    Result<StateRegion> region =
        aside ? StateRegion::make_new(folder_, shape_) : Result<StateRegion>{aside.error()};
    if (region) {
        secrets_ = region->secrets();
        region_.emplace(*std::move(region));
    } else {
        secrets_ = StateRegion::fresh_secrets(shape_);
        report_unkept(region.error().what);
    }
}

Result<Done> BoxState::keep(const LimitSlots& slots) const {
    return survives() ? store_.save({region_->lineage(), slots.image()}) : Done{};
}

void BoxState::keep_or_leave(const LimitSlots& slots) {
    const Result<Done> kept = keep(slots);
    if (!kept) {
        report_unkept(kept.error().what);
        open_region(Mapping::Stores::Private);
    }
}

Now BoxState::now() const noexcept {
    const Nanoseconds at = read_clock(CLOCK_BOOTTIME) + clock_lead();
    return {Instant{at}, read_clock(CLOCK_REALTIME) - at};
}

void BoxState::open_former(std::span<const SlotRow> rows) {
    if (!region_ && !inherited_) {
        return;
    }
    former_regions_ =
        survives() ? StateRegion::open_former(folder_) : StateRegion::open_as_found(folder_);
    if (region_ && !survives()) {
        // Tables of this process are a copy of the latest, not former ones.
        std::erase_if(former_regions_,
                      [&](const StateRegion& region) { return region.is_same_as(*region_); });
    }
    std::vector<PreviousTables::Store> stores;
    std::size_t process = 0;
    Instant until{};
    for (const StateRegion& region : former_regions_) {
        for (std::size_t worker = 0; worker < region.workers(); ++worker) {
            stores.push_back({BucketStore{region.worker(worker)}, process});
            found_.damaged += stores.back().buckets.recover(rows, now()).damaged;
            until = std::max(until, last_debt(stores.back().buckets));
        }
        ++process;
    }
    if (!stores.empty()) {
        former_ = std::make_unique<PreviousTables>(std::move(stores), until);
    }
}

void BoxState::end_former() {
    former_.reset();
    for (const StateRegion& region : former_regions_) {
        if (survives()) {
            region.remove(folder_);
        }
    }
    former_regions_.clear();
    log_info("the former tables are gone: nothing in them was owed any more");
}

std::span<Record> BoxState::records(std::size_t worker, std::span<const SlotRow> rows) {
    if (region_) {
        const std::span<Record> records = region_->records(worker);
        found_.damaged += cut_damaged_records(records, rows);
        return records;
    }
    const LineMemory& memory = records_.emplace_back(shape_.records() * sizeof(Record));
    return {static_cast<Record*>(memory.data()), shape_.records()};
}

KeptMemory BoxState::connections(std::size_t worker, std::size_t connections, std::size_t bytes) {
    if (!survives()) {
        return {};
    }
    const Result<std::string> place = folder_.tables(0, false);
    Result<KeptConnections> kept =
        place ? KeptConnections::open(*place, {.lineage = region_->lineage(),
                                               .rss_mapping = shape_.rss_mapping,
                                               .workers = shape_.workers,
                                               .worker = worker,
                                               .connections = connections,
                                               .bytes = bytes})
              : Result<KeptConnections>{place.error()};
    if (!kept) {
        folder_.note_not_kept();
        log_error(kept.error().what + "; connections of services will not survive this process");
        return {};
    }
    connections_.push_back(*std::move(kept));
    return connections_.back().memory();
}

BucketStore BoxState::store(std::size_t worker, std::span<const SlotRow> rows) {
    if (!region_) {
        BucketStore store{shape_.keys, shape_.pool_lines};
        store.set_previous_tables(former_.get(), worker);
        return store;
    }
    BucketStore store{region_->worker(worker)};
    const BucketStore::Found found = store.recover(rows, now());
    found_.live += found.live;
    found_.mended += found.mended;
    found_.unknown += found.unknown;
    found_.damaged += found.damaged;
    store.set_previous_tables(former_.get(), worker);
    return store;
}

}  // namespace sluice
