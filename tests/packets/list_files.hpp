#pragma once
#include "lib/policy/lists/list_reader.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace sluice::test {

// Lists that lie in no folder, by path.
inline ListReader lists_of(std::map<std::string, std::string> files) {
    return [files = std::move(files)](const std::string& path) -> Result<ListFile> {
        const auto found = files.find(path);
        if (found == files.end()) {
            return Error{Errc::Unreachable, "cannot read the list " + path};
        }
        return ListFile{path, std::make_shared<const std::string>(found->second)};
    };
}

}  // namespace sluice::test
