#include "bawn/contract/tool.hpp"

#include <utility>

namespace bawn::contract {

Tool::Tool(Definition definition, Properties properties)
    : definition_(std::move(definition)), properties_(std::move(properties)) {}

Tool::~Tool() = default;

}  // namespace bawn::contract
