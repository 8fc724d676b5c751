#pragma once
#include "lib/base/result.hpp"

#include <functional>
#include <memory>
#include <string>

namespace sluice {

// A list file that was read, or kept from when it was.
struct ListFile {
    std::string name;  // for messages
    std::shared_ptr<const std::string> text;
};

// How a rule file's lists are read: by the path that it gives them. TooMany: the file is larger
// than a list may be. Any other error: the file is missing, or cannot be read.
using ListReader = std::function<Result<ListFile>(const std::string& path)>;

}  // namespace sluice
