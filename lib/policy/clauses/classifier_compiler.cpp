#include "lib/policy/clauses/classifier_compiler.hpp"

#include "lib/policy/clauses/row_builder.hpp"
#include "lib/policy/texts/text_terms.hpp"

#include <set>

namespace sluice {
namespace {

// Takes out the rules that every packet satisfies, with all of their clauses.
std::vector<std::uint32_t> take_always(std::vector<RuleClause>& clauses) {
    std::set<std::uint32_t> always;
    for (const RuleClause& one : clauses) {
        if (one.clause.empty()) {
            always.insert(one.rule);
        }
    }
    std::erase_if(clauses, [&](const RuleClause& one) { return always.contains(one.rule); });
    return {always.begin(), always.end()};
}

bool fits_its_tables(const DimensionParts& dimension, std::size_t summary) {
    const std::size_t rows = dimension.open.size() / summary;
    const bool in_table = row_of(dimension.field).kind != FieldKind::Address &&
                          key_bits(dimension.field) <= kMaxTableBits;
    return rows <= (in_table ? kMaxTableRows : kMaxRows) && dimension.steps.size() <= kMaxSteps &&
           dimension.v6_steps.size() <= kMaxWideSteps;
}

}  // namespace

std::optional<ClassifierParts> compile_clauses(std::vector<RuleClause> clauses, const SetPool& pool,
                                               std::size_t most) {
    ClassifierParts parts;
    parts.always = take_always(clauses);
    sort_for_summary(clauses, pool);
    std::set<Field> fields;
    for (const RuleClause& one : clauses) {
        parts.rule_of.push_back(one.rule);
        for (const ClauseTerm& term : one.clause.fields) {
            fields.insert(term.field);
        }
    }
    BlockPool blocks;
    std::size_t left = most;
    for (const Field field : fields) {
        const std::size_t before = blocks.size() * sizeof(Block);
        RowBuilder rows{field, clauses, pool, blocks};
        if (!rows.build(left + before)) {
            return std::nullopt;
        }
        left -= rows.bytes() - before;
        parts.dimensions.push_back(rows.take());
        if (!fits_its_tables(parts.dimensions.back(), summary_for(clauses.size()))) {
            return std::nullopt;
        }
    }
    parts.blocks = blocks.take();
    parts.texts = text_parts_of(clauses, pool.texts());
    return parts;
}

}  // namespace sluice
