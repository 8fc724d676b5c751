#include "tests/bench/scan_alone.hpp"

#include <cstdio>
#include <cstdlib>

namespace sluice::bench {

ScanAlone::ScanAlone(const TextParts& parts) {
    std::size_t most = 1;
    for (const TextDatabaseParts& each : parts.databases) {
        Result<PatternDatabase> loaded = PatternDatabase::load(each.bytes);
        if (!loaded) {
            std::fprintf(stderr, "%s\n", loaded.error().what.c_str());
            std::exit(1);
        }
        databases_.push_back({each.field, *std::move(loaded)});
        patterns_ += each.entries.size();
        most = std::max(most, each.entries.size());
    }
    for (const Database& each : databases_) {
        (void)scratch_.fit(each.patterns);
    }
    hits_ = std::make_unique<PatternHits>(most);
}

void ScanAlone::add(TextField field, ByteView text) {
    for (std::size_t i = 0; i < databases_.size(); ++i) {
        if (databases_[i].field == field) {
            const std::size_t at = bytes_.size() - kTextPadding;
            texts_.push_back({i, at, text.size()});
            bytes_.resize(at);
            bytes_.insert(bytes_.end(), text.begin(), text.end());
            bytes_.resize(bytes_.size() + kTextPadding);
        }
    }
}

std::size_t ScanAlone::scan(std::size_t request) noexcept {
    const std::size_t end =
        request + 1 == requests_.size() ? texts_.size() : requests_[request + 1];
    std::size_t found = 0;
    for (std::size_t i = requests_[request]; i < end; ++i) {
        const Text& text = texts_[i];
        hits_->clear();
        databases_[text.database].patterns.scan(
            padding_.pad(ByteView{bytes_}.subspan(text.at, text.size), kTextPadding), scratch_,
            *hits_);
        found += hits_->found().size();
    }
    return found;
}

}  // namespace sluice::bench
