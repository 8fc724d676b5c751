#pragma once
#include "lib/base/result.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace sluice {

// Lists as they were when they were read, by the path that the rule file gives them.
using ListTexts = std::map<std::string, std::shared_ptr<const std::string>>;

// sum_of() a list, worked out once for each text: a list may have a million lines.
[[nodiscard]] std::string sum_of_list(const std::shared_ptr<const std::string>& text);

// The texts of the lists of every set that lies on the disk, a file each, named for its sum: what
// comes back finds the same lists also when their files have changed or gone meanwhile.
class ListCopies {
public:
    explicit ListCopies(const std::string& state) : directory_{state + "/lists"} {}

    [[nodiscard]] Result<Done> add(const ListTexts& lists) const;
    // nullptr: there is none, or it is damaged.
    [[nodiscard]] std::shared_ptr<const std::string> find(const std::string& sum) const;
    [[nodiscard]] bool is_empty() const;
    // Removes what has none of these sums.
    void keep_only(const std::set<std::string>& sums) const;

private:
    [[nodiscard]] std::string path_of(const std::string& sum) const;
    [[nodiscard]] bool has(const std::string& sum, std::size_t size) const;

    std::string directory_;
};

}  // namespace sluice
