package main

import (
	"encoding/json"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// question is one plugin, one cluster and one pod.
type question struct {
	Plugin string `json:"plugin"`
	// Args are the plugin's arguments, as a KubeSchedulerConfiguration has them; absent: its defaults.
	Args json.RawMessage `json:"args,omitempty"`
	// Nodes and Pods (each with spec.nodeName) are what the scheduler's cache holds.
	Nodes []*v1.Node `json:"nodes"`
	Pods  []*v1.Pod  `json:"pods"`
	// Objects are of any other kind that has an informer, each with apiVersion and kind.
	Objects []json.RawMessage `json:"objects,omitempty"`
	Pod     *v1.Pod           `json:"pod"`
	// Added pods come onto their nodes, and Removed ones (by uid) go, between PreFilter and Filter. Then nothing is scored.
	Added   []*v1.Pod `json:"added,omitempty"`
	Removed []string  `json:"removed,omitempty"`
	// Rival is what a plugin that sorts the queue compares the pod with.
	Rival *v1.Pod `json:"rival,omitempty"`
}

type status struct {
	Code    string   `json:"code"`
	Reasons []string `json:"reasons,omitempty"`
}

// answer holds what each point of the plugin said; a point that it does not have, or that was not reached, is absent.
type answer struct {
	PreEnqueue *status `json:"preEnqueue,omitempty"`
	// Order is less than 0 when the pod goes before its rival, 0 when neither has to go first.
	Order     *int    `json:"order,omitempty"`
	PreFilter *status `json:"preFilter,omitempty"`
	// NodeNames are the only nodes that PreFilter leaves.
	NodeNames []string `json:"nodeNames,omitempty"`
	// Filter holds the nodes that it refused, of those that PreFilter left.
	Filter   map[string]*status `json:"filter,omitempty"`
	PreScore *status            `json:"preScore,omitempty"`
	// Scores are normalised, without the plugin's weight, of the nodes that it did not refuse.
	Scores map[string]int64 `json:"scores,omitempty"`
	// Score is why there are none.
	Score *status `json:"score,omitempty"`
	// Error says why the question could not be put.
	Error string `json:"error,omitempty"`
}

func statusOf(from *fwk.Status) *status {
	if from == nil {
		return &status{Code: fwk.Success.String()}
	}
	return &status{Code: from.Code().String(), Reasons: from.Reasons()}
}
