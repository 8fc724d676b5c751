#include "lib/policy/lists/data_file.hpp"

namespace sluice {

std::optional<std::string> data_path(const MapReader& map, std::string_view key,
                                     const ReadContext& context) {
    std::optional<std::string> path = map.text(key);
    if (path && (path->empty() || path->find('\0') != std::string::npos)) {
        context.problems.error(map.find(key)->at,
                               "`" + std::string{key} + "` is the path of a file");
        return std::nullopt;
    }
    return path;
}

std::optional<ListFile> read_data_file(const std::string& path, Position at,
                                       const ListReader* files, const ReadContext& context) {
    const Result<ListFile> file =
        files != nullptr ? (*files)(path)
                         : Error{Errc::Unreachable, "cannot read " + path + ": there is no folder"};
    if (file) {
        return *file;
    }
    context.complain(at, file.error().what, context.strict || file.error().code == Errc::TooMany);
    return std::nullopt;
}

void LineFaults::add_fault(Fault fault) {
    if (++fault_count <= kMaxFaults) {
        faults.push_back(std::move(fault));
    }
}

void LineFaults::report(const std::string& file, Problems& problems) const {
    for (const Fault& fault : faults) {
        problems.error_in(file, fault.at, fault.what);
    }
    if (fault_count > faults.size()) {
        problems.error_in(
            file, {}, "and " + std::to_string(fault_count - faults.size()) + " more such lines");
    }
}

}  // namespace sluice
