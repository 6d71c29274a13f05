#include "bawn/contract/confinement.hpp"

namespace bawn::contract {
namespace {

Json to_json(const Layer& layer) {
  Json json;
  json["name"] = layer.name;
  json["requested"] = layer.requested;
  json["applied"] = layer.applied;
  if (layer.abi) {
    json["abi"] = *layer.abi;
  }
  json["missing"] = layer.missing;
  json["reason"] = layer.reason;
  return json;
}

Json to_json(const NetworkReach& network) {
  Json json;
  json["mode"] = network.mode;
  json["proxy"] = network.proxy;
  json["supervised"] = network.supervised;
  json["hosts"] = network.hosts;
  return json;
}

}  // namespace

Json to_json(const Confinement& confinement) {
  Json layers = Json::array();
  for (const Layer& layer : confinement.layers) {
    layers.push_back(to_json(layer));
  }
  Json json;
  json["confined"] = confinement.confined;
  json["by"] = confinement.by;
  json["confirmed"] = confinement.confirmed;
  json["policy"] = confinement.policy;
  json["policy_id"] = confinement.policy_id;
  json["user"] = confinement.user;
  json["layers"] = std::move(layers);
  json["guarantees"] = confinement.guarantees;
  json["notes"] = confinement.notes;
  if (confinement.network) {
    json["network"] = to_json(*confinement.network);
  }
  return json;
}

}  // namespace bawn::contract
