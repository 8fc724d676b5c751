#include "dataplane/box_state.hpp"

#include "lib/base/log.hpp"

#include <utility>

namespace sluice {
namespace {

// Lines of 64 bytes for states that do not fit an entry, as a share of the table's keys.
constexpr std::size_t kPoolShare = 2;

}  // namespace

Result<BoxState> BoxState::open(const DataplaneOptions& options, std::size_t workers) {
    Result<StateFolder> folder = StateFolder::open(options.state_dir);
    if (!folder) {
        return folder.error();
    }
    BoxState state{*std::move(folder),
                   {.workers = workers,
                    .keys = options.table_keys,
                    .pool_lines = options.table_keys / kPoolShare,
                    .huge_pages = options.huge_pages != HugePages::None}};
    state.open_region();
    state.read_slots();
    return state;
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
    Result<std::optional<SlotsImage>> slots = store_.load(region_->id());
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
    const StateSecrets secrets = secrets_;
    region_.reset();
    const Result<std::string> aside = folder_.put_aside();
    log_error("the tables of an earlier dataplane cannot be used: " + why + "; " +
              (aside ? "they are kept as " + *aside : aside.error().what) +
              ", and all buckets begin anew");
    slots_ = {};
    Result<StateRegion> region = StateRegion::make_new(folder_, shape_, secrets);
    if (region) {
        region_.emplace(*std::move(region));
    } else {
        log_error(region.error().what + "; buckets will not survive this process");
    }
}

Result<Done> BoxState::keep(const LimitSlots& slots) const {
    return region_ ? store_.save({region_->id(), slots.image()}) : Done{};
}

BucketStore BoxState::store(std::size_t worker, std::span<const SlotRow> rows) {
    if (!region_) {
        return BucketStore{shape_.keys, shape_.pool_lines};
    }
    BucketStore store{region_->worker(worker)};
    const BucketStore::Found found = store.take_up(rows);
    found_.live += found.live;
    found_.mended += found.mended;
    found_.unknown += found.unknown;
    return store;
}

}  // namespace sluice
