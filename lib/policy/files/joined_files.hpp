#pragma once
#include "lib/policy/compile.hpp"
#include "lib/policy/problems/problem.hpp"
#include "lib/policy/tenants/tenant_scope.hpp"
#include "lib/policy/yaml/yaml_tree.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sluice {

// Several rule files as one: their texts one after the other, each ending with a whole line, and
// their trees as one tree, whose places are those of that text. A list's relative path begins in
// the folder of its file; those of other folders than the first file's are absolute in the tree.
class JoinedFiles {
public:
    explicit JoinedFiles(std::span<const RuleFilePart> parts);

    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    // The line at which each file begins in that text.
    [[nodiscard]] const std::vector<FileStart>& starts() const noexcept { return starts_; }

    // The operator's files as one tree, and those of tenants one by one, of which none is a part of
    // another. Faults of a file, and what two files both have, are put into `problems`, by the
    // places of the joined text. nullopt: one of them has no tree.
    struct Trees {
        YamlNode root;
        std::vector<TenantTree> tenants;
    };
    [[nodiscard]] std::optional<Trees> read(Problems& problems) const;

private:
    std::span<const RuleFilePart> parts_;
    std::string text_;
    std::vector<FileStart> starts_;
};

}  // namespace sluice
