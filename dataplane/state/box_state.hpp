#pragma once
#include "dataplane/state/kept_connections.hpp"
#include "dataplane/state/rss_key_store.hpp"
#include "dataplane/state/slots_store.hpp"
#include "dataplane/state/snapshot_thread.hpp"
#include "dataplane/state/state_folder.hpp"
#include "dataplane/state/state_region.hpp"
#include "lib/bucket/table/bucket_store.hpp"
#include "lib/bucket/table/previous_tables.hpp"
#include "lib/rules/box_config.hpp"
#include "lib/rules/load/limit_slots.hpp"
#include "lib/wire/message.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sluice {

// The state that a dataplane finds of the one before it, and leaves to the one after it.
class BoxState {
public:
    // Takes hold of the state directory. An Error if another process has it. Without room for
    // tables that survive the box goes on with others, and says so.
    [[nodiscard]] static Result<BoxState> open(const BoxConfig& box, std::size_t workers);

    [[nodiscard]] const StateSecrets& secrets() const noexcept { return secrets_; }
    [[nodiscard]] Nanoseconds clock_lead() const noexcept {
        if (region_) {
            return region_->clock_lead();
        }
        return inherited_ ? Nanoseconds{inherited_->lead} : lead_without_region_;
    }
    [[nodiscard]] const RssKeys& rss_keys() const noexcept { return rss_keys_; }
    // The meaning of the slots in the tables' entries.
    [[nodiscard]] const SlotsImage& slots() const noexcept { return slots_; }
    // Keeps their new meaning; before the first entry is filed by it.
    [[nodiscard]] Result<Done> keep(const LimitSlots& slots) const;
    // The same before any entry was filed: where it cannot be kept, the tables stay as they were
    // found, and this process works on a copy that ends with it.
    void keep_or_leave(const LimitSlots& slots);
    // The buckets of one worker, as they were left: `rows` are the limits of the set that it will
    // judge by first.
    [[nodiscard]] BucketStore store(std::size_t worker, std::span<const SlotRow> rows);
    // Tables of another shape that were found: workers look into them from then on. nullptr: none.
    void open_former(std::span<const SlotRow> rows);
    [[nodiscard]] const PreviousTables* former() const noexcept { return former_.get(); }
    // Once all workers have let go of them.
    void end_former();
    // Makes the thread that writes them; from then on this object stays where it is.
    void begin_snapshots();
    // Writes one if it is time, beside the caller; and the last one, when no worker runs any more.
    void keep_snapshot(std::chrono::steady_clock::time_point now);
    void end_snapshots();
    // Records of what it has not told the others yet, as it was left.
    [[nodiscard]] std::span<Record> records(std::size_t worker, std::span<const SlotRow> rows);
    // Memory for what a worker knows of connections of services, each so many bytes; none where
    // it would not survive, which is reported.
    [[nodiscard]] KeptMemory connections(std::size_t worker, std::size_t connections,
                                         std::size_t bytes);
    // The saved rules could not be read.
    void note_put_aside() const noexcept { folder_.note_put_aside(); }
    void note_not_kept() const noexcept { folder_.note_not_kept(); }
    // Nothing that was found can be read by the rules that there are.
    void begin_anew(const std::string& why);

    [[nodiscard]] const std::string& directory() const noexcept { return folder_.path(); }
    // True if buckets survive this process.
    [[nodiscard]] bool survives() const noexcept { return region_ && region_->is_kept(); }
    [[nodiscard]] const BucketStore::Found& found() const noexcept { return found_; }
    // For whoever asks how it is; all but the debts that workers took over.
    [[nodiscard]] StateStats stats() const;

private:
    BoxState(StateFolder folder, const StateShape& shape, const RssKeys& keys)
        : folder_{std::move(folder)}, store_{folder_.path()}, shape_{shape}, rss_keys_{keys} {}
    void open_region(Mapping::Stores stores);
    void report_unkept(const std::string& why) const;
    [[nodiscard]] Now now() const noexcept;
    void restore_snapshot();
    void write_snapshot() const;
    void read_slots();
    void leave_other_names();
    void leave_tables(const std::string& why);

    // Written by whoever writes snapshots, one after the other.
    struct SnapshotCounts {
        Counter done;
        Counter failed;
        Counter bytes;
        Counter at;           // of the steady clock, ns
        bool unread = false;  // the file may be good, and is not to be written over
    };

    StateFolder folder_;
    SlotsStore store_;
    StateShape shape_;
    RssKeys rss_keys_;
    StateSecrets secrets_;
    std::optional<StateRegion> region_;
    // Without a region: what buckets that end with this process go on with of the tables there are.
    std::optional<StateRegion::Heritage> inherited_;
    std::vector<StateRegion> former_regions_;
    std::unique_ptr<PreviousTables> former_;  // in their memory
    Nanoseconds lead_without_region_{StateRegion::fresh_lead()};
    SlotsImage slots_;
    BucketStore::Found found_;
    std::vector<LineMemory> records_;  // where none survive
    std::vector<KeptConnections> connections_;
    std::string snapshot_file_;  // empty: none is wanted
    Nanoseconds snapshot_every_{};
    std::chrono::steady_clock::time_point next_snapshot_{};
    std::unique_ptr<SnapshotCounts> snapshot_counts_ = std::make_unique<SnapshotCounts>();
    std::unique_ptr<SnapshotThread> snapshot_thread_;  // nullptr: none is wanted, or to be had
};

}  // namespace sluice
