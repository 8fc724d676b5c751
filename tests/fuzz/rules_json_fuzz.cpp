#include "control/daemon/kept_file.hpp"
#include "control/daemon/rules_file.hpp"
#include "tests/fuzz/accepted.hpp"
#include "tests/fuzz/input.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>

// Rule sets as a crash, a bad disk or somebody's editor may leave them. The first byte says how:
// `r`, the bytes as they are; `s`, a document whose sum is made here, so that what lies behind the
// sum is reached too. What is read is kept again as the same.
namespace {

using namespace sluice;
using test::require;

std::string sealed(std::string_view text) {
    nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
    if (!document.is_object()) {
        return std::string{text};
    }
    constexpr auto kReplace = nlohmann::json::error_handler_t::replace;
    document.erase("sum");
    document["sum"] = sum_of(document.dump(-1, ' ', false, kReplace));
    return document.dump(-1, ' ', false, kReplace);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input{reinterpret_cast<const char*>(data), size};
    if (input.empty()) {
        return 0;
    }
    const std::string text =
        input.front() == 's' ? sealed(input.substr(1)) : std::string{input.substr(1)};
    static const ListCopies copies{"/nonexistent"};
    static test::AcceptedInputs accepted;
    const Result<StoredRules> rules = rules_from_file(text, copies);
    accepted.add(rules.has_value());
    (void)notes_from_file(text);
    if (rules) {
        const Result<StoredRules> again = rules_from_file(file_text(*rules), copies);
        require(again.has_value() && file_text(*again) == file_text(*rules));
    }
    if (const Result<Trial> trial = trial_from_file(text, copies)) {
        const Result<Trial> again = trial_from_file(file_text(*trial), copies);
        require(again.has_value() && again->end == trial->end);
    }
    return 0;
}
