#include "dataplane/state/state_region.hpp"

#include "dataplane/read_clock.hpp"
#include "lib/base/log.hpp"
#include "lib/base/read_file.hpp"
#include "lib/wire/fd.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

namespace sluice {
namespace {

template <typename T>
void fill_with_randomness(T& bytes) noexcept {
    if (::getrandom(&bytes, sizeof(bytes), 0) != static_cast<ssize_t>(sizeof(bytes))) {
        std::abort();  // a guessable secret would let anybody aim collisions
    }
}

// Files that cannot be looked at count as there: they are not to be replaced.
bool is_something(const std::string& name) {
    std::error_code error;
    const auto type = std::filesystem::status(name, error).type();
    return type != std::filesystem::file_type::not_found;
}

std::string name_of_header(const std::string& place) {
    return place + "/header";
}

std::string name_of_former(const std::string& place, std::uint64_t id) {
    return place + "/former-" + std::to_string(id);
}

// The files whose names begin like that.
std::vector<std::string> files_of(const std::string& place, std::string_view beginning) {
    std::vector<std::string> found;
    for (const std::string& name : names_in(place)) {
        if (name.starts_with(beginning)) {
            found.push_back(place + "/" + name);
        }
    }
    return found;
}

// The workers' files of a region.
void remove_workers(const std::string& place, const std::string& id) {
    for (const std::string& file : files_of(place, "worker-")) {
        if (file.ends_with("-" + id)) {
            (void)::unlink(file.c_str());
        }
    }
}

// Former tables that are looked into, each of which costs memory and time; the oldest of too many
// are given up, which is said.
std::vector<std::string> latest_former(const std::string& place) {
    constexpr std::size_t kMaxPrevious = 8;
    std::vector<std::string> names = files_of(place, "former-");
    std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
        std::error_code error;
        return std::filesystem::last_write_time(a, error) >
               std::filesystem::last_write_time(b, error);
    });
    while (names.size() > kMaxPrevious) {
        const std::string& oldest = names.back();
        log_error("the tables had other shapes too often: what is owed in " + oldest +
                  " is forgotten");
        const std::string id = oldest.substr(oldest.rfind('-') + 1);
        (void)::unlink(oldest.c_str());
        remove_workers(place, id);
        names.pop_back();
    }
    return names;
}

constexpr std::string_view kBadFormer = "bad-former-";

// Files of regions that never came to be: neither in use nor former nor kept aside.
void remove_unfinished(const std::string& place, std::uint64_t in_use) {
    const std::string former = place + "/former-";
    const std::string bad = place + "/" + std::string{kBadFormer};
    for (const std::string& file : files_of(place, "worker-")) {
        const std::string id = file.substr(file.rfind('-') + 1);
        if (id != std::to_string(in_use) && !is_something(former + id) && !is_something(bad + id)) {
            (void)::unlink(file.c_str());
        }
    }
}

// The latest only, since each takes memory. Says where they are.
std::string put_former_aside(const std::string& name) {
    const std::filesystem::path path{name};
    const std::string place = path.parent_path().string();
    for (const std::string& earlier : files_of(place, kBadFormer)) {
        (void)::unlink(earlier.c_str());
        remove_workers(place, earlier.substr(earlier.rfind('-') + 1));
    }
    const std::string aside = place + "/bad-" + path.filename().string();
    return ::rename(name.c_str(), aside.c_str()) == 0 ? "they are kept as " + aside
                                                      : "they stay where they are";
}

// Read and not mapped: a copy on write would need one more huge page, and the tables may hold them
// all.
Result<RegionHeader> copy_of_header(const std::string& name) {
    const Fd file{::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
    RegionHeader header;
    const ssize_t got = file.is_open() ? ::pread(file.get(), &header, sizeof(header), 0) : -1;
    if (got < 0) {
        return mapping_failed("read", name);
    }
    if (got != static_cast<ssize_t>(sizeof(header))) {
        return Error{Errc::BadSyntax, name + " is shorter than it should be"};
    }
    return header;
}

// The header of a region whose instants go on.
Result<RegionHeader> read_header(const std::string& name) {
    const Result<RegionHeader> header = copy_of_header(name);
    const Result<Done> good = header ? header->check_running() : Result<Done>{header.error()};
    return good ? header : Result<RegionHeader>{good.error()};
}

}  // namespace

std::string StateRegion::name_of_worker(const std::string& place, std::uint64_t id,
                                        std::size_t worker) {
    return place + "/worker-" + std::to_string(worker) + "-" + std::to_string(id);
}

StateSecrets StateRegion::fresh_secrets(const StateShape& shape) noexcept {
    StateSecrets secrets;
    if (shape.secret) {
        secrets.hash = *shape.secret;
    } else {
        fill_with_randomness(secrets.hash);
    }
    return secrets;
}

std::int64_t StateRegion::fresh_lead() noexcept {
    return -read_clock(CLOCK_BOOTTIME).count();
}

StateRegion::Heritage StateRegion::nothing(const StateShape& shape) noexcept {
    Heritage heritage{.secrets = fresh_secrets(shape), .lead = fresh_lead()};
    fill_with_randomness(heritage.lineage);
    return heritage;
}

// The tables first, then the names: without room nothing has changed.
Result<StateRegion> StateRegion::make(const std::string& place, const StateShape& shape,
                                      const Heritage& heritage, std::uint64_t succeeds) {
    Result<StateRegion> region = make_files(place, shape, heritage, succeeds);
    if (!region) {
        return region;
    }
    if (const Result<Done> installed = region->install(place, succeeds); !installed) {
        region->discard(place);
        return installed.error();
    }
    return region;
}

Result<StateRegion> StateRegion::make_files(const std::string& place, const StateShape& shape,
                                            const Heritage& heritage, std::uint64_t succeeds) {
    std::uint64_t id = 0;
    fill_with_randomness(id);
    const std::string temporary = name_of_header(place) + ".new";
    (void)::unlink(temporary.c_str());
    remove_unfinished(place, succeeds);
    Result<Mapping> mapped = Mapping::make(temporary, sizeof(RegionHeader));
    if (!mapped) {
        return mapped.error();
    }
    RegionHeader header = RegionHeader::make(shape, id);
    header.lineage = heritage.lineage;
    header.lead = heritage.lead;
    header.secrets = heritage.secrets;
    header.seal();
    *static_cast<RegionHeader*>(mapped->data()) = header;
    StateRegion region{header, shape, heritage.taken_up};
    for (std::size_t worker = 0; worker < shape.workers; ++worker) {
        Result<Mapping> file =
            Mapping::make(name_of_worker(place, id, worker), shape.worker_bytes());
        if (!file) {
            region.discard(place);
            return file.error();
        }
        region.workers_.push_back(*std::move(file));
    }
    return region;
}

void StateRegion::discard(const std::string& place) const {
    (void)::unlink((name_of_header(place) + ".new").c_str());
    remove_workers(place, std::to_string(header_.id));
}

// The header before it gets a second name, and then loses the first: at any instant each of them
// leads to its tables.
Result<Done> StateRegion::install(const std::string& place, std::uint64_t succeeds) const {
    const std::string name = name_of_header(place);
    const std::string former = name_of_former(place, succeeds);
    if (succeeds != 0 && ::link(name.c_str(), former.c_str()) != 0 && errno != EEXIST) {
        return mapping_failed("rename", name);
    }
    if (::rename((name + ".new").c_str(), name.c_str()) != 0) {
        return mapping_failed("replace", name);
    }
    return Done{};
}

// The header in force; without one, since a process was killed while it replaced it, the latest
// former one.
Result<RegionHeader> StateRegion::latest_header(const std::string& place) {
    const std::vector<std::string> former = latest_former(place);
    const bool is_there = is_something(name_of_header(place));
    if (!is_there && former.empty()) {
        return mapping_failed("open", name_of_header(place));
    }
    return read_header(is_there ? name_of_header(place) : former.front());
}

Result<StateRegion> StateRegion::open_files(const RegionHeader& header, const std::string& place,
                                            const StateShape& shape, Mapping::Stores stores) {
    StateRegion region{header, shape, true};
    for (std::size_t worker = 0; worker < shape.workers; ++worker) {
        Result<Mapping> file =
            Mapping::open(name_of_worker(place, header.id, worker), shape.worker_bytes(), stores);
        if (!file) {
            return file.error();
        }
        region.workers_.push_back(*std::move(file));
    }
    return region;
}

std::vector<StateRegion> StateRegion::open_all(const StateFolder& folder,
                                               const std::vector<std::string>& names,
                                               Mapping::Stores stores) {
    std::vector<StateRegion> regions;
    for (const std::string& name : names) {
        const std::string place = std::filesystem::path{name}.parent_path().string();
        const Result<RegionHeader> header = read_header(name);
        Result<StateRegion> region = header ? open_files(*header, place, header->shape(), stores)
                                            : Result<StateRegion>{header.error()};
        if (region) {
            regions.push_back(*std::move(region));
            continue;
        }
        folder.note_put_aside();
        const bool aside = stores == Mapping::Stores::Kept && is_about_content(region.error());
        log_error("the former tables " + name + " cannot be used: " + region.error().what + "; " +
                  (aside ? put_former_aside(name) : "they stay where they are"));
    }
    return regions;
}

std::vector<StateRegion> StateRegion::open_former(const StateFolder& folder) {
    const Result<std::string> place = folder.tables(0, false);
    return place ? open_all(folder, latest_former(*place), Mapping::Stores::Kept)
                 : std::vector<StateRegion>{};
}

std::vector<StateRegion> StateRegion::open_as_found(const StateFolder& folder) {
    const Result<std::string> place = folder.tables(0, false);
    if (!place) {
        return {};
    }
    std::vector<std::string> names = latest_former(*place);
    if (is_something(name_of_header(*place))) {
        names.insert(names.begin(), name_of_header(*place));
    }
    return open_all(folder, names, Mapping::Stores::Private);
}

void StateRegion::remove(const StateFolder& folder) const {
    const Result<std::string> place = folder.tables(0, false);
    if (place && ::unlink(name_of_former(*place, header_.id).c_str()) == 0) {
        remove_workers(*place, std::to_string(header_.id));
    }
}

Result<StateRegion> StateRegion::make_new(const StateFolder& folder, const StateShape& shape) {
    const Result<std::string> place = folder.tables(shape.bytes(), shape.huge_pages);
    return place ? make(*place, shape, nothing(shape), 0) : place.error();
}

// A region that cannot be read is not to be replaced: open() reports it and keeps it aside.
bool StateRegion::is_there(const StateFolder& folder) {
    const std::string place = folder.path() + "/tables";
    const std::vector<std::string> former = files_of(place, "former-");
    const std::string name = former.empty() ? name_of_header(place) : former.front();
    if (!is_something(name)) {
        return false;
    }
    const Result<RegionHeader> header = copy_of_header(name);
    return !header || !header->check() || header->is_of_this_boot();
}

std::optional<StateRegion::Heritage> StateRegion::heritage(const StateFolder& folder) {
    const Result<std::string> place = folder.tables(0, false);
    const Result<RegionHeader> header =
        place ? latest_header(*place) : Result<RegionHeader>{place.error()};
    if (!header) {
        return std::nullopt;
    }
    return Heritage{header->secrets, header->lineage, header->lead, true};
}

// Tables that cannot be read just now may be good: they stay, and the next start may read them.
Result<StateRegion> StateRegion::begin_anew_if_bad(const StateFolder& folder,
                                                   const StateShape& shape, const Error& error) {
    const std::string& why = error.what;
    if (!is_about_content(error)) {
        return error;
    }
    const Result<std::string> aside = folder.put_aside();
    if (!aside) {
        return Error{Errc::Unreachable, "the tables of an earlier dataplane cannot be used: " +
                                            why + "; " + aside.error().what};
    }
    log_error("the tables of an earlier dataplane cannot be used: " + why + "; they are kept as " +
              *aside + ", and all buckets begin anew");
    return make_new(folder, shape);
}

Result<StateRegion> StateRegion::open(const StateFolder& folder, const StateShape& shape,
                                      Mapping::Stores stores) {
    const Result<std::string> place = folder.tables(shape.bytes(), shape.huge_pages);
    if (!place) {
        return place.error();
    }
    const bool is_there = is_something(name_of_header(*place));
    if (!is_there && files_of(*place, "former-").empty()) {
        return make_new(folder, shape);
    }
    const Result<RegionHeader> header = latest_header(*place);
    if (!header) {
        return begin_anew_if_bad(folder, shape, header.error());
    }
    if (is_there && header->has_shape(shape)) {
        // Named so by a process that was killed while it made another.
        (void)::unlink(name_of_former(*place, header->id).c_str());
        remove_unfinished(*place, header->id);
        Result<StateRegion> found = open_files(*header, *place, shape, stores);
        return found ? *std::move(found) : begin_anew_if_bad(folder, shape, found.error());
    }
    log_info(
        "the tables have another size, number of workers or spreading of flows than before; what "
        "keys owe is taken over as they come");
    return make(*place, shape, {header->secrets, header->lineage, header->lead, true},
                is_there ? header->id : 0);
}

}  // namespace sluice
