package main

import (
	"encoding/json"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// question consists of one plugin, one cluster and one pod.
type question struct {
	Plugin string `json:"plugin"`
	// Args are the plugin's arguments as in a KubeSchedulerConfiguration; absent: its defaults.
	Args json.RawMessage `json:"args,omitempty"`
	// Nodes and Pods (each with spec.nodeName) are the content of the scheduler's cache.
	Nodes []*v1.Node `json:"nodes"`
	Pods  []*v1.Pod  `json:"pods"`
	// Objects have other kinds with an informer, each with apiVersion and kind.
	Objects []json.RawMessage `json:"objects,omitempty"`
	Pod     *v1.Pod           `json:"pod"`
	// Added pods are added to their nodes, and Removed ones (by uid) are removed, between PreFilter and Filter. Then nothing is scored.
	Added   []*v1.Pod `json:"added,omitempty"`
	Removed []string  `json:"removed,omitempty"`
	// Rival is the pod with which a QueueSort plugin compares the pod.
	Rival *v1.Pod `json:"rival,omitempty"`
}

type status struct {
	Code    string   `json:"code"`
	Reasons []string `json:"reasons,omitempty"`
}

// answer holds the result of each extension point; it is absent if the plugin does not have it or did not reach it.
type answer struct {
	PreEnqueue *status `json:"preEnqueue,omitempty"`
	// Order is less than 0 when the pod goes before its rival, and 0 for equal rank.
	Order     *int    `json:"order,omitempty"`
	PreFilter *status `json:"preFilter,omitempty"`
	// NodeNames are the only nodes that PreFilter leaves.
	NodeNames []string `json:"nodeNames,omitempty"`
	// Filter holds the rejected nodes, of those that PreFilter left.
	Filter   map[string]*status `json:"filter,omitempty"`
	PreScore *status            `json:"preScore,omitempty"`
	// Scores are normalized, without the plugin's weight, for the nodes that were not rejected.
	Scores map[string]int64 `json:"scores,omitempty"`
	// Score is the reason why there are no scores.
	Score *status `json:"score,omitempty"`
	// Error is the reason why the question is invalid.
	Error string `json:"error,omitempty"`
}

func statusOf(from *fwk.Status) *status {
	if from == nil {
		return &status{Code: fwk.Success.String()}
	}
	return &status{Code: from.Code().String(), Reasons: from.Reasons()}
}
