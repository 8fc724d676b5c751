#include "control/fields_json.hpp"

#include "control/cli/commands.hpp"
#include "control/cli/table.hpp"
#include "control/cli/terminal.hpp"

// fields: the tables that the compiler of rules reads, for people and for editors.
namespace sluice {

ExitCode run_fields(const Options& options) {
    Json list = fields_json();
    if (options.json) {
        print(dump_line({{"fields", std::move(list)}}));
        return ExitCode::Done;
    }
    Table table{{{"FIELD"}, {"VALUES"}}};
    for (const Json& one : list) {
        table.row({text_at(one, "name"), text_at(one, "values")});
    }
    print(table.text());
    return ExitCode::Done;
}

}  // namespace sluice
