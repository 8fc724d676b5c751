#include "lib/policy/domains/suffix_file.hpp"

#include "lib/policy/domains/suffix_list.hpp"

#include <string>
#include <utility>

namespace sluice {
namespace {

Result<std::vector<SuffixRule>> read_with(const ListReader* files) {
    if (files == nullptr) {
        return Error{Errc::Unreachable,
                     "cannot read " + std::string{kSuffixListFile} + ": there is no folder"};
    }
    const Result<ListFile> file = (*files)(kSuffixListFile);
    return file ? read_suffix_list(*file->text) : file.error();
}

}  // namespace

void SuffixFile::read() {
    if (outcome_) {
        return;
    }
    Result<std::vector<SuffixRule>> rules = read_with(files_);
    if (!rules) {
        outcome_.emplace(rules.error());
        return;
    }
    outcome_.emplace(Done{});
    rules_ = std::make_shared<const std::vector<SuffixRule>>(*std::move(rules));
    suffixes_.emplace(*rules_);
}

const PublicSuffixes* SuffixFile::suffixes() {
    read();
    return suffixes_ ? &*suffixes_ : nullptr;
}

std::shared_ptr<const std::vector<SuffixRule>> SuffixFile::rules() {
    read();
    return rules_;
}

void SuffixFile::report(Position at, const ReadContext& context) {
    read();
    if (*outcome_) {
        return;
    }
    const Error& why = outcome_->error();
    context.complain(at, "registrable_domain() needs the list of public suffixes: " + why.what,
                     context.strict || why.code != Errc::Unreachable);
}

void report_domains(const std::vector<std::size_t>& offsets, const ScalarPlaces& places,
                    const ReadContext& context) {
    for (const std::size_t offset : offsets) {
        if (context.suffixes != nullptr) {
            context.suffixes->report(places[offset], context);
        }
    }
}

}  // namespace sluice
