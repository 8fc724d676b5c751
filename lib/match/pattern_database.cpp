#include "lib/match/pattern_database.hpp"

#include <cassert>

#include <hs_runtime.h>

namespace sluice {
namespace {

Error fault_of(hs_error_t code) {
    switch (code) {
        case HS_DB_VERSION_ERROR:
            return {Errc::NotSupported, "it was made by another version of Hyperscan"};
        case HS_DB_PLATFORM_ERROR:
        case HS_DB_MODE_ERROR:
            return {Errc::NotSupported, "it was made for another CPU than this one"};
        case HS_NOMEM:
            return {Errc::TooMany, "there is no memory for it"};
        case HS_ARCH_ERROR:
            return {Errc::NotSupported, "this CPU lacks what Hyperscan needs, SSSE3"};
        default:
            return {Errc::BadSyntax, "it is corrupt"};
    }
}

int note_hit(unsigned id, unsigned long long /*from*/, unsigned long long /*to*/,
             unsigned /*flags*/, void* hits) noexcept {
    static_cast<PatternHits*>(hits)->add(id);
    return 0;
}

}  // namespace

PatternDatabase::PatternDatabase(hs_database* database, std::size_t bytes)
    : database_{database,
                [](const hs_database* old) {
                    (void)hs_free_database(const_cast<hs_database*>(old));
                }},
      bytes_{bytes} {}

Result<PatternDatabase> PatternDatabase::load(ByteView serialised) {
    const auto* bytes = reinterpret_cast<const char*>(serialised.data());
    hs_database_t* database = nullptr;
    if (const hs_error_t code = hs_deserialize_database(bytes, serialised.size(), &database);
        code != HS_SUCCESS) {
        return fault_of(code);
    }
    std::size_t size = 0;
    (void)hs_database_size(database, &size);
    return PatternDatabase{database, size};
}

void PatternDatabase::scan(PaddedText text, PatternScratch& scratch,
                           PatternHits& hits) const noexcept {
    const ByteView bytes = text.bytes();
    // The scan can only fail when its arguments are wrong.
    [[maybe_unused]] const hs_error_t code =
        hs_scan(database_.get(), reinterpret_cast<const char*>(bytes.data()),
                static_cast<unsigned>(bytes.size()), 0, scratch.scratch_.get(), note_hit, &hits);
    assert(code == HS_SUCCESS);
}

Result<Done> PatternScratch::fit(const PatternDatabase& database) {
    hs_scratch_t* scratch = scratch_.release();
    const hs_error_t code = hs_alloc_scratch(database.database_.get(), &scratch);
    scratch_.reset(scratch);
    if (code != HS_SUCCESS) {
        return fault_of(code);
    }
    return Done{};
}

void PatternScratch::Free::operator()(hs_scratch* scratch) const noexcept {
    (void)hs_free_scratch(scratch);
}

}  // namespace sluice
