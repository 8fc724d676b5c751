#include "lib/policy/rules/bypass_reader.hpp"

#include "lib/policy/file_keys/rule_keys.hpp"
#include "lib/policy/limits/limit_list_reader.hpp"
#include "lib/policy/rules/when_reader.hpp"
#include "lib/rules/limit_numbers.hpp"

namespace sluice {
namespace {

// One budget, read key by key.
class BypassReader {
public:
    BypassReader(const YamlNode& node, std::string id, const FileContext& file)
        : file_{file},
          context_{context_of(file, true)},
          map_{node, rule_keys::kBypass, context_, "an item of `bypass`"} {
        read_.rule.id = std::move(id);
    }

    ReadRule run() {
        read_head();
        if (map_.is_map()) {
            if (map_.find("when") == nullptr) {
                file_.problems.error(map_.node().at, "an item of `bypass` needs `when`");
            }
            read_when(map_, file_, context_, read_);
            read_limit();
        }
        return std::move(read_);
    }

private:
    void read_head() {
        read_.rule.mode = Mode::Enforce;
        read_.rule.on_match = OnMatch::Bypass;
        read_.rule.missing_key = file_.defaults.missing_key;
        read_.rule.on_full = file_.defaults.on_full.on_full;
        read_.rule.coarsen_factor = file_.defaults.on_full.factor;
        read_.summary.id = read_.rule.id;
        read_.summary.kind = RuleKind::Bypass;
        read_.summary.mode = Mode::Enforce;
        read_.summary.line = map_.node().at.line;
        read_.summary.action = "pass before any rule; what is beyond it meets the rules";
    }

    void read_limit() {
        const YamlNode* parts = map_.find("key");
        const YamlNode* limit = map_.find("limit");
        if (parts == nullptr || limit == nullptr) {
            file_.problems.error(map_.node().at,
                                 "an item of `bypass` needs `key` ([] for one bucket in all) and "
                                 "`limit`");
        }
        const KeyText key = parts == nullptr ? KeyText{} : read_key(*parts, context_);
        if (limit != nullptr) {
            ReadLimits limits;
            const LimitListReader reader{{read_.rule.id, std::nullopt}, file_.limits, context_};
            reader.read_one(*limit, limit->is_scalar() ? limit->text : "1", {key}, limits);
            read_.rule.limits = std::move(limits.limits);
            read_.summary.limits = std::move(limits.summaries);
        }
        read_.summary.key = key.text;
        read_.rule.keys = {key.parts};
        read_.summary.keys = read_.rule.keys;
        read_.rule.asks_clients =
            file_.client_ip.view.proxied && asks_for_client(read_.asks_client, read_.rule.keys);
        (void)fill_coarser(read_.rule);
    }

    const FileContext& file_;
    ReadContext context_;
    MapReader map_;
    ReadRule read_;
};

}  // namespace

std::vector<ReadBypass> read_bypass(const YamlNode& bypass, const FileContext& file) {
    if (!bypass.is_list()) {
        file.problems.error(bypass.at, "`bypass` is a list of budgets; found " + kind_name(bypass));
        return {};
    }
    std::vector<ReadBypass> budgets;
    for (const YamlNode& node : bypass.items) {
        const std::string id = "bypass." + std::to_string(budgets.size() + 1);
        budgets.push_back({&node, BypassReader{node, id, file}.run()});
    }
    return budgets;
}

}  // namespace sluice
