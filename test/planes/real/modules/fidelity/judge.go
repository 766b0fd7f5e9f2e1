package main

import (
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	schedulercache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// judge asks PreFilter and Filter as the scheduling cycle does, and answers the nodes that are left.
func judge(ctx context.Context, plugin fwk.Plugin, state fwk.CycleState, asked *question, snapshot *schedulercache.Snapshot, all []fwk.NodeInfo, said *answer) ([]fwk.NodeInfo, error) {
	left := all
	skipped := false
	if asking, ok := plugin.(fwk.PreFilterPlugin); ok {
		result, code := asking.PreFilter(ctx, state, asked.Pod, all)
		said.PreFilter = statusOf(code)
		skipped = code.IsSkip()
		if !code.IsSuccess() && !skipped {
			return nil, nil
		}
		if !result.AllNodes() {
			said.NodeNames = slices.Sorted(slices.Values(result.NodeNames.UnsortedList()))
			left = slices.DeleteFunc(slices.Clone(all), func(node fwk.NodeInfo) bool {
				return !result.NodeNames.Has(node.Node().Name)
			})
		}
		if err := change(ctx, asking.PreFilterExtensions(), skipped, state, asked, snapshot); err != nil {
			return nil, err
		}
	}
	asking, ok := plugin.(fwk.FilterPlugin)
	if !ok || skipped {
		return left, nil
	}
	said.Filter = map[string]*status{}
	var fitting []fwk.NodeInfo
	for _, node := range left {
		if code := asking.Filter(ctx, state, asked.Pod, node); !code.IsSuccess() {
			said.Filter[node.Node().Name] = statusOf(code)
		} else {
			fitting = append(fitting, node)
		}
	}
	return fitting, nil
}

// change brings the case's further pods onto their nodes and takes others away, and tells the plugin.
func change(ctx context.Context, told fwk.PreFilterExtensions, skipped bool, state fwk.CycleState, asked *question, snapshot *schedulercache.Snapshot) error {
	for _, pod := range asked.Added {
		info, err := framework.NewPodInfo(pod)
		if err != nil {
			return err
		}
		node, err := snapshot.NodeInfos().Get(pod.Spec.NodeName)
		if err != nil {
			return err
		}
		node.AddPodInfo(info)
		if told == nil || skipped {
			continue
		}
		if code := told.AddPod(ctx, state, asked.Pod, info, node); !code.IsSuccess() {
			return code.AsError()
		}
	}
	for _, uid := range asked.Removed {
		index := slices.IndexFunc(asked.Pods, func(pod *v1.Pod) bool { return string(pod.UID) == uid })
		if index < 0 {
			return fmt.Errorf("no pod of the case has the uid %s", uid)
		}
		info, err := framework.NewPodInfo(asked.Pods[index])
		if err != nil {
			return err
		}
		node, err := snapshot.NodeInfos().Get(asked.Pods[index].Spec.NodeName)
		if err != nil {
			return err
		}
		if err := node.RemovePod(klog.FromContext(ctx), asked.Pods[index]); err != nil {
			return err
		}
		if told == nil || skipped {
			continue
		}
		if code := told.RemovePod(ctx, state, asked.Pod, info, node); !code.IsSuccess() {
			return code.AsError()
		}
	}
	return nil
}

// score asks PreScore, Score and NormalizeScore about the nodes that are left.
func score(ctx context.Context, plugin fwk.Plugin, state fwk.CycleState, pod *v1.Pod, left []fwk.NodeInfo, said *answer) {
	if asking, ok := plugin.(fwk.PreScorePlugin); ok {
		code := asking.PreScore(ctx, state, pod, left)
		said.PreScore = statusOf(code)
		if !code.IsSuccess() {
			return
		}
	}
	asking, ok := plugin.(fwk.ScorePlugin)
	if !ok {
		return
	}
	scores := make(fwk.NodeScoreList, len(left))
	for i, node := range left {
		points, code := scoreOf(ctx, asking, state, pod, node)
		if !code.IsSuccess() {
			said.Score = statusOf(code)
			return
		}
		scores[i] = fwk.NodeScore{Name: node.Node().Name, Score: points}
	}
	if normalizing := asking.ScoreExtensions(); normalizing != nil {
		if code := normalizing.NormalizeScore(ctx, state, pod, scores); !code.IsSuccess() {
			said.Score = statusOf(code)
			return
		}
	}
	said.Scores = map[string]int64{}
	for _, node := range scores {
		said.Scores[node.Name] = node.Score
	}
}

// scoreOf asks about one node. A plugin that panics, with which all of kube-scheduler would end, answers Error.
func scoreOf(ctx context.Context, asking fwk.ScorePlugin, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) (points int64, code *fwk.Status) {
	defer func() {
		if cause := recover(); cause != nil {
			code = fwk.AsStatus(fmt.Errorf("panic: %v", cause))
		}
	}()
	return asking.Score(ctx, state, pod, node)
}
