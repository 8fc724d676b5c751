#include "lib/policy/databases/mmdb_networks.hpp"

#include "lib/match/geo_parts.hpp"
#include "lib/packet/country.hpp"
#include "lib/policy/databases/mmdb_file.hpp"

#include <optional>
#include <unordered_map>

namespace sluice {
namespace {

// A tree has a node for each bit of a network that it shares with no other: a database of a million
// networks has about three million.
constexpr std::uint64_t kMaxNodes = std::uint64_t{1} << 25;
constexpr unsigned kBitsBeforeV4 = 96;

// The countries or systems of records, by where the record stands: few records serve many networks.
class Values {
public:
    Values(const MMDB_s& file, DatabaseKind kind) : file_{file}, kind_{kind} {}

    // 0: none. nullopt: there is no sound record there, or there are too many.
    std::optional<std::uint32_t> at(std::uint32_t offset) {
        const auto known = known_.find(offset);
        if (known != known_.end()) {
            return known->second;
        }
        const std::optional<std::uint32_t> value = read(offset);
        if (!value || known_.size() == kMaxOrigins) {
            return std::nullopt;
        }
        any_ = any_ || *value != 0;
        known_[offset] = *value;
        return value;
    }
    // True if there were records, and none had what is looked for.
    [[nodiscard]] bool are_of_another_kind() const { return !known_.empty() && !any_; }

private:
    [[nodiscard]] std::optional<std::uint32_t> read(std::uint32_t offset) const {
        MMDB_entry_s record{&file_, offset};
        MMDB_entry_data_s data{};
        const int status =
            kind_ == DatabaseKind::Country
                ? MMDB_get_value(&record, &data, "country", "iso_code", nullptr)
                : MMDB_get_value(&record, &data, "autonomous_system_number", nullptr);
        if (status == MMDB_LOOKUP_PATH_DOES_NOT_MATCH_DATA_ERROR) {
            return 0;
        }
        if (status != MMDB_SUCCESS) {
            return std::nullopt;
        }
        return kind_ == DatabaseKind::Country ? country(data) : asn(data);
    }
    static std::uint32_t country(const MMDB_entry_data_s& code) {
        const bool is_text = code.has_data && code.type == MMDB_DATA_TYPE_UTF8_STRING;
        return is_text ? country_number({code.utf8_string, code.data_size}) : 0;
    }
    static std::uint32_t asn(const MMDB_entry_data_s& number) {
        switch (number.has_data ? number.type : 0U) {
            case MMDB_DATA_TYPE_UINT16:
                return number.uint16;
            case MMDB_DATA_TYPE_UINT32:
                return number.uint32;
            case MMDB_DATA_TYPE_UINT64:
                return number.uint64 <= UINT32_MAX ? static_cast<std::uint32_t>(number.uint64) : 0;
            default:
                return 0;
        }
    }

    const MMDB_s& file_;
    DatabaseKind kind_;
    std::unordered_map<std::uint32_t, std::uint32_t> known_;
    bool any_ = false;
};

// The target of a bit of an address: a node, a record of values, or nothing.
struct Target {
    std::uint8_t type = MMDB_RECORD_TYPE_SEARCH_NODE;
    std::uint32_t node = 0;
    std::uint32_t record = 0;

    [[nodiscard]] bool is_node() const noexcept { return type == MMDB_RECORD_TYPE_SEARCH_NODE; }
};

// All addresses that share their first bits.
struct Branch {
    Target target;
    Wide first = 0;
    unsigned bits = 0;
};

class TreeWalk {
public:
    TreeWalk(const MmdbFile& file, DatabaseKind kind) : file_{file}, values_{*file, kind} {}

    Result<DatabaseNetworks> run() {
        const bool has_v6 = file_->metadata.ip_version == 6;
        const std::optional<Target> v4 = has_v6 ? v4_root() : Target{};
        if (!v4) {
            return broken_mmdb("its tree is damaged");
        }
        DatabaseNetworks networks;
        if (!walk(*v4, kV4Bits, nullptr, networks.steps, kMaxOriginSteps)) {
            return error_;
        }
        networks.v6_steps = {{0, 0}};
        if (has_v6) {
            networks.v6_steps.clear();
            if (!walk(Target{}, kV6Bits, &*v4, networks.v6_steps, kMaxWideOriginSteps)) {
                return error_;
            }
        }
        networks.type = file_->metadata.database_type;
        networks.built_at = file_->metadata.build_epoch;
        if (values_.are_of_another_kind()) {
            return Error{Errc::BadSyntax,
                         "holds nothing of what is looked for; it is a database "
                         "of type " +
                             networks.type};
        }
        return networks;
    }

private:
    bool fail(Error error) {
        error_ = std::move(error);
        return false;
    }

    bool children_of(std::uint32_t number, Target& left, Target& right) const {
        MMDB_search_node_s node{};
        if (MMDB_read_node(&*file_, number, &node) != MMDB_SUCCESS ||
            node.left_record_type == MMDB_RECORD_TYPE_INVALID ||
            node.right_record_type == MMDB_RECORD_TYPE_INVALID) {
            return false;
        }
        left = {node.left_record_type, static_cast<std::uint32_t>(node.left_record),
                node.left_record_entry.offset};
        right = {node.right_record_type, static_cast<std::uint32_t>(node.right_record),
                 node.right_record_entry.offset};
        return true;
    }

    // The target of ::/96.
    std::optional<Target> v4_root() const {
        Target target;
        for (unsigned bit = 0; bit < kBitsBeforeV4 && target.is_node(); ++bit) {
            Target other;
            if (!children_of(target.node, target, other)) {
                return std::nullopt;
            }
        }
        return target;
    }

    // All addresses in order. Where `alias` is met, there is nothing.
    template <typename Key>
    bool walk(const Target& root, unsigned width, const Target* alias,
              std::vector<Step<Key>>& steps, std::size_t most) {
        branches_.assign(1, {root, 0, 0});
        while (!branches_.empty()) {
            const Branch branch = branches_.back();
            branches_.pop_back();
            const bool is_alias = alias != nullptr && alias->is_node() && branch.target.is_node() &&
                                  branch.target.node == alias->node;
            if (branch.target.is_node() && !is_alias) {
                if (!descend(branch, width)) {
                    return false;
                }
                continue;
            }
            std::optional<std::uint32_t> value = 0;
            if (branch.target.type == MMDB_RECORD_TYPE_DATA) {
                value = values_.at(branch.target.record);
            }
            if (!value) {
                return fail(broken_mmdb("a network leads to no value"));
            }
            if (steps.empty() || steps.back().row != *value) {
                steps.push_back({static_cast<Key>(branch.first), *value});
            }
            if (steps.size() > most) {
                return fail({Errc::TooMany, "has more than " + std::to_string(most) +
                                                " networks unlike their neighbours"});
            }
        }
        return true;
    }

    bool descend(const Branch& branch, unsigned width) {
        Target left;
        Target right;
        if (branch.bits == width || !children_of(branch.target.node, left, right)) {
            return fail(broken_mmdb("its tree is damaged"));
        }
        if (++nodes_ > kMaxNodes) {
            return fail({Errc::TooMany, "has more networks than can be held"});
        }
        const unsigned bits = branch.bits + 1;
        branches_.push_back({right, branch.first | (Wide{1} << (width - bits)), bits});
        branches_.push_back({left, branch.first, bits});
        return true;
    }

    const MmdbFile& file_;
    Values values_;
    std::vector<Branch> branches_;
    std::uint64_t nodes_ = 0;
    Error error_;
};

}  // namespace

Result<DatabaseNetworks> read_mmdb_here(std::string_view bytes, DatabaseKind kind) {
    const Result<MmdbFile> file = MmdbFile::open(bytes);
    return file ? TreeWalk{*file, kind}.run() : file.error();
}

}  // namespace sluice
