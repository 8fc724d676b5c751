#include "dataplane/state/box_state.hpp"

#include "lib/base/log.hpp"

#include <algorithm>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

// Lines of 64 bytes for states that do not fit an entry, as a share of the table's keys.
constexpr std::size_t kPoolShare = 2;

// A number for how flows come to workers, as far as it is configured: if it changes, keys may come
// to others.
std::uint64_t spread_of(const BoxConfig& box) {
    std::string text;
    for (const PairConfig& pair : box.pairs) {
        text += pair.name + (pair.hand_over ? "/handed" : "");
        for (const PortConfig* side : {&pair.outside, &pair.inside}) {
            text += '/' + std::to_string(static_cast<unsigned>(side->rss)) + '/' +
                    std::to_string(side->queues.value_or(0));
        }
        text += '\n';
    }
    return siphash_1_3(HashSecret{}, bytes_of(text));
}

std::uint64_t steady_ns() {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::steady_clock::now().time_since_epoch())
                                          .count());
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
    BoxState state{*std::move(folder),
                   {.workers = workers,
                    .keys = box.table_keys,
                    .pool_lines = box.table_keys / kPoolShare,
                    .huge_pages = box.huge_pages != HugePages::None,
                    .rss_mapping = spread_of(box)}};
    state.snapshot_file_ = box.snapshot_file;
    state.snapshot_every_ = box.snapshot_every;
    state.restore_snapshot();
    state.open_region();
    state.read_slots();
    return state;
}

// After a reboot, which has taken the tables away.
void BoxState::restore_snapshot() {
    if (snapshot_file_.empty() || StateRegion::is_there(folder_) ||
        ::access(snapshot_file_.c_str(), F_OK) != 0) {
        return;
    }
    const Result<Done> restored = StateRegion::restore(folder_, snapshot_file_, shape_.huge_pages);
    if (!restored) {
        const std::string aside = snapshot_file_ + ".bad";
        (void)::rename(snapshot_file_.c_str(), aside.c_str());
        log_error(restored.error().what + "; it is kept as " + aside);
        (void)folder_.put_aside();
    }
}

void BoxState::write_snapshot() const {
    if (const Result<Done> done = region_->write_snapshot(folder_, snapshot_file_); !done) {
        log_error(done.error().what);
        snapshot_counts_->failed.add(1);
        return;
    }
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
                     .former_tables = former_ == nullptr ? 0 : former_regions_.size(),
                     .put_aside = folder_.times_put_aside(),
                     .snapshots = !snapshot_file_.empty() && region_,
                     .snapshots_done = snapshot_counts_->done.read(),
                     .snapshots_failed = snapshot_counts_->failed.read()};
    if (stats.snapshots_done != 0) {
        stats.snapshot_bytes = snapshot_counts_->bytes.read();
        stats.snapshot_age_ns = steady_ns() - snapshot_counts_->at.read();
    }
    return stats;
}

void BoxState::keep_snapshot(std::chrono::steady_clock::time_point now) {
    if (snapshot_file_.empty() || !region_ || now < next_snapshot_ ||
        (snapshot_.valid() &&
         snapshot_.wait_for(std::chrono::seconds{0}) != std::future_status::ready)) {
        return;
    }
    next_snapshot_ = now + snapshot_every_;
    snapshot_ = std::async(std::launch::async, [this] { write_snapshot(); });
}

void BoxState::end_snapshots() {
    if (snapshot_.valid()) {
        snapshot_.wait();
    }
    if (!snapshot_file_.empty() && region_) {
        write_snapshot();
    }
}

void BoxState::open_region() {
    region_.reset();
    Result<StateRegion> region = StateRegion::open(folder_, shape_);
    if (region) {
        secrets_ = region->secrets();
        region_.emplace(*std::move(region));
        return;
    }
    secrets_ = StateRegion::fresh_secrets();
    log_error(region.error().what + "; buckets will not survive this process");
}

void BoxState::read_slots() {
    slots_ = {};
    if (!region_ || !region_->taken_up()) {
        return;
    }
    Result<std::optional<SlotsImage>> slots = store_.load(region_->lineage());
    if (slots && *slots) {
        slots_ = **std::move(slots);
        return;
    }
    begin_anew(slots ? "what their entries mean was not kept" : slots.error().what);
}

void BoxState::begin_anew(const std::string& why) {
    if (!region_) {
        return;
    }
    region_.reset();
    const Result<std::string> aside = folder_.put_aside();
    log_error("the tables of an earlier dataplane cannot be used: " + why + "; " +
              (aside ? "they are kept as " + *aside : aside.error().what) +
              ", and all buckets begin anew");
    slots_ = {};
    Result<StateRegion> region = StateRegion::make_new(folder_, shape_);
    if (region) {
        secrets_ = region->secrets();
        region_.emplace(*std::move(region));
    } else {
        log_error(region.error().what + "; buckets will not survive this process");
    }
}

Result<Done> BoxState::keep(const LimitSlots& slots) const {
    return region_ ? store_.save({region_->lineage(), slots.image()}) : Done{};
}

void BoxState::open_former(std::span<const SlotRow> rows) {
    if (!region_) {
        return;
    }
    former_regions_ = StateRegion::open_former(folder_);
    std::vector<PreviousTables::Store> stores;
    std::size_t process = 0;
    Instant until{};
    for (const StateRegion& region : former_regions_) {
        for (std::size_t worker = 0; worker < region.workers(); ++worker) {
            stores.push_back({BucketStore{region.worker(worker)}, process});
            (void)stores.back().buckets.recover(rows);
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
        region.remove(folder_);
    }
    former_regions_.clear();
    log_info("the former tables are gone: nothing in them was owed any more");
}

std::span<Record> BoxState::records(std::size_t worker) {
    if (region_) {
        return region_->records(worker);
    }
    const LineMemory& memory = records_.emplace_back(shape_.records() * sizeof(Record));
    return {static_cast<Record*>(memory.data()), shape_.records()};
}

BucketStore BoxState::store(std::size_t worker, std::span<const SlotRow> rows) {
    if (!region_) {
        return BucketStore{shape_.keys, shape_.pool_lines};
    }
    BucketStore store{region_->worker(worker)};
    const BucketStore::Found found = store.recover(rows);
    found_.live += found.live;
    found_.mended += found.mended;
    found_.unknown += found.unknown;
    store.set_previous_tables(former_.get(), worker);
    return store;
}

}  // namespace sluice
