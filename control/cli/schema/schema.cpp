#include "control/cli/commands.hpp"
#include "control/cli/terminal.hpp"
#include "control/schema/file_schemas.hpp"

namespace sluice {

ExitCode run_schema(const Options& options) {
    constexpr int kIndent = 2;
    const Json schema = options.of_config ? box_file_schema() : rule_file_schema();
    print(options.json ? dump_line(schema) : schema.dump(kIndent) + "\n");
    return ExitCode::Done;
}

}  // namespace sluice
