import { defaultImage } from "../container/paths.js";
import type { KubernetesOptions } from "../runtime-options.js";
import { type PodParts, placementOf } from "./pod.js";

/** The image with the agent unless another is named. */
const defaultAgentImage = "cloud-sandbox-agent:latest";

/** Settings of a template's Pods that may differ from those of other templates. */
export type PodKind = Pick<PodParts, "image" | "agentImage" | "runtimeClass" | "placement">;

/** The Pods of a template, which is an image or has the first one, unless it is told to have another. */
export function podKind(kubernetes: KubernetesOptions, template: string, own?: string): PodKind {
  const { images = [], agentImage = defaultAgentImage, runtimeClass, placement = {} } = kubernetes;
  const image = own ?? (images.includes(template) ? template : (images[0] ?? defaultImage));
  return {
    ...{ image, agentImage, runtimeClass: runtimeClass?.name },
    placement: placementOf(placement, template, image),
  };
}
