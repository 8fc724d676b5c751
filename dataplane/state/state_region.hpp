#pragma once
#include "dataplane/state/mapping.hpp"
#include "dataplane/state/region_header.hpp"
#include "dataplane/state/state_folder.hpp"
#include "dataplane/state/state_shape.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sluice {

// Memory that outlives this process, in named files: a header, and one file for each worker.
class StateRegion {
public:
    // The part of earlier regions that a region goes on with.
    struct Heritage {
        StateSecrets secrets;
        std::uint64_t lineage = 0;
        std::int64_t lead = 0;
        bool taken_up = false;
    };

    // Opens what an earlier process left, if it can be read and has that shape; with another, a new
    // one beside it, which succeeds it once it is there; where it cannot be read, a new one after
    // it has been put aside and reported. The secrets stay as long as they can be read. An Error:
    // there is no room for a new one, or what there is cannot be read just now; it lies where it
    // was.
    [[nodiscard]] static Result<StateRegion> open(const StateFolder& folder,
                                                  const StateShape& shape,
                                                  Mapping::Stores stores = Mapping::Stores::Kept);
    // The heritage of the tables there, when no region could be opened; nullopt: there are none.
    [[nodiscard]] static std::optional<Heritage> heritage(const StateFolder& folder);
    // A copy for the next boot, written beside what workers do; and such a copy made the region
    // that open() finds, its instants as much later as UTC is.
    // `keep_as`: the name of what lies there from the instant on at which the new one is whole; an
    // error leaves it where it is.
    [[nodiscard]] Result<Done> write_snapshot(const StateFolder& folder, const std::string& path,
                                              const std::string& keep_as = {}) const;
    [[nodiscard]] static Result<Done> restore(const StateFolder& folder, const std::string& path,
                                              bool huge_pages);
    // True if a region lies there that an earlier boot has not left.
    [[nodiscard]] static bool is_there(const StateFolder& folder);

    // A new one in any case, where nothing lies any more.
    [[nodiscard]] static Result<StateRegion> make_new(const StateFolder& folder,
                                                      const StateShape& shape);
    // The regions that had another shape, as long as they are there, and the end of one of them.
    // What cannot be read of them is put aside and reported.
    [[nodiscard]] static std::vector<StateRegion> open_former(const StateFolder& folder);
    // The same for a process that has no region there, but buckets that end with it: the latest is
    // among them, and nothing that is done to them is kept.
    [[nodiscard]] static std::vector<StateRegion> open_as_found(const StateFolder& folder);
    void remove(const StateFolder& folder) const;
    [[nodiscard]] static StateSecrets fresh_secrets(const StateShape& shape) noexcept;
    // How far instants are ahead of CLOCK_BOOTTIME where buckets begin: they begin at zero.
    [[nodiscard]] static std::int64_t fresh_lead() noexcept;

    [[nodiscard]] const StateSecrets& secrets() const noexcept { return header_.secrets; }
    // The lineage of all regions that share secrets and the meaning of slots.
    [[nodiscard]] std::uint64_t lineage() const noexcept { return header_.lineage; }
    // True if there was one before, of this shape or another.
    [[nodiscard]] bool taken_up() const noexcept { return taken_up_; }
    // True if the next process finds what is stored in it.
    [[nodiscard]] bool is_kept() const noexcept {
        return std::all_of(workers_.begin(), workers_.end(),
                           [](const Mapping& worker) { return worker.is_kept(); });
    }
    [[nodiscard]] std::size_t workers() const noexcept { return workers_.size(); }
    // True if both are of the same files.
    [[nodiscard]] bool is_same_as(const StateRegion& other) const noexcept {
        return header_.id == other.header_.id;
    }
    // How far instants are ahead of CLOCK_BOOTTIME.
    [[nodiscard]] Nanoseconds clock_lead() const noexcept { return Nanoseconds{header_.lead}; }
    [[nodiscard]] StoreMemory worker(std::size_t worker) const noexcept {
        return {workers_[worker].data(), shape_.layout(), workers_[worker].page_size()};
    }
    [[nodiscard]] std::span<Record> records(std::size_t worker) const noexcept {
        auto* memory = static_cast<std::byte*>(workers_[worker].data()) + shape_.records_at();
        return {reinterpret_cast<Record*>(memory), shape_.records()};
    }

private:
    struct SnapshotHead;

    StateRegion(const RegionHeader& header, const StateShape& shape, bool taken_up) noexcept
        : header_{header}, shape_{shape}, taken_up_{taken_up} {}
    [[nodiscard]] static Heritage nothing(const StateShape& shape) noexcept;
    [[nodiscard]] static Result<RegionHeader> latest_header(const std::string& place);
    [[nodiscard]] static Result<StateRegion> open_files(const RegionHeader& header,
                                                        const std::string& place,
                                                        const StateShape& shape,
                                                        Mapping::Stores stores);
    // `succeeds`: the id of the region whose header lies there; 0: none does.
    [[nodiscard]] static Result<StateRegion> make(const std::string& place, const StateShape& shape,
                                                  const Heritage& heritage, std::uint64_t succeeds);
    // The same under names by which nobody finds it, until install() gives it its own; discard()
    // removes it.
    [[nodiscard]] static Result<StateRegion> make_files(const std::string& place,
                                                        const StateShape& shape,
                                                        const Heritage& heritage,
                                                        std::uint64_t succeeds);
    void discard(const std::string& place) const;
    // Copies the parts of a snapshot behind its head to where they belong.
    [[nodiscard]] Result<Done> fill_from(std::FILE* file, const SnapshotHead& head,
                                         const StateFolder& folder, const std::string& path);
    [[nodiscard]] Result<Done> install(const std::string& place, std::uint64_t succeeds) const;
    [[nodiscard]] static Result<StateRegion> begin_anew_if_bad(const StateFolder& folder,
                                                               const StateShape& shape,
                                                               const Error& error);
    [[nodiscard]] static std::vector<StateRegion> open_all(const StateFolder& folder,
                                                           const std::vector<std::string>& names,
                                                           Mapping::Stores stores);
    [[nodiscard]] static std::string name_of_worker(const std::string& place, std::uint64_t id,
                                                    std::size_t worker);

    RegionHeader header_;
    StateShape shape_;
    bool taken_up_;
    std::vector<Mapping> workers_;
};

}  // namespace sluice
