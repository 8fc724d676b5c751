#include "lib/policy/texts/text_pool.hpp"

#include "lib/policy/texts/letter_case.hpp"

#include <algorithm>
#include <string>

namespace sluice {
namespace {

// Texts that are compared without case are equal without it.
std::string spelled(const TextTest& test, std::string text) {
    return test.ignore_case && test.how != TextHow::Matches ? lowered(text) : text;
}

// A number alone is a text that is equal.
TextHow how_of(const TextTest& test, const std::string& text) {
    return test.how == TextHow::Within && text.find('-') == std::string::npos ? TextHow::Equals
                                                                              : test.how;
}

}  // namespace

TextTestId TextPool::add(const TextTest& test) {
    Test pooled{test.field, {}};
    for (const std::string& text : test.texts) {
        pooled.entries.push_back(
            {test.field, how_of(test, text), test.ignore_case, spelled(test, text)});
    }
    std::sort(pooled.entries.begin(), pooled.entries.end());
    pooled.entries.erase(std::unique(pooled.entries.begin(), pooled.entries.end()),
                         pooled.entries.end());
    return add(std::move(pooled));
}

TextTestId TextPool::add(Test test) {
    const auto [at, fresh] =
        ids_.try_emplace(std::move(test), static_cast<TextTestId>(tests_.size()));
    if (fresh) {
        tests_.push_back(&at->first);
    }
    return at->second;
}

}  // namespace sluice
