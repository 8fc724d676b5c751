#include "control/daemon/api/api.hpp"
#include "control/daemon/api/verbs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace sluice::route_test {
namespace {

TEST(Route, ToReadNobodyNeedsMoreThanToView) {
    for (const RouteShape& row : route_shapes()) {
        if (row.method == "GET") {
            // A trace shows what senders wrote, and so does a preview.
            const bool shows = row.path == "/v1/traces/*" || row.path == "/v1/previews/*";
            EXPECT_EQ(row.role, shows ? Role::Operate : Role::View) << row.path;
        }
    }
}

TEST(Route, ToChangeSomethingViewIsNotEnough) {
    const std::vector<std::string> kShow{"POST /v1/explain", "POST /v1/simulate",
                                         "POST /v1/rules/check", "POST /v1/session",
                                         "DELETE /v1/session"};
    for (const RouteShape& row : route_shapes()) {
        const std::string call = std::string{row.method} + " " + std::string{row.path};
        if (row.method != "GET" && std::ranges::find(kShow, call) == kShow.end()) {
            EXPECT_GE(row.role, Role::Operate) << call;
        }
    }
}

TEST(Route, WhatJudgesAllTrafficIsForAdmins) {
    for (const RouteShape& row : route_shapes()) {
        const bool is_rules = row.path == "/v1/rules" || row.path == "/v1/rules/*" ||
                              row.path == "/v1/panic" || row.path == "/v1/rollback" ||
                              row.path == "/v1/merge" || row.path == "/v1/session/link";
        if (row.method != "GET" && is_rules) {
            EXPECT_EQ(row.role, Role::Admin) << row.method << " " << row.path;
        }
    }
}

TEST(Route, VerbsOfThePageAreCallsOfTheTable) {
    const std::vector<RouteShape> shapes = route_shapes();
    for (const Verb& verb : kVerbs) {
        EXPECT_TRUE(std::ranges::any_of(shapes, [&](const RouteShape& row) {
            return row.method == verb.method && row.path == verb.path;
        })) << verb.name;
    }
}

}  // namespace
}  // namespace sluice::route_test
