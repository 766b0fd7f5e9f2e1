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

// judge runs PreFilter and Filter as the scheduling cycle does, and returns the remaining nodes.
func judge(ctx context.Context, plugin fwk.Plugin, state fwk.CycleState, q *question, snapshot *schedulercache.Snapshot, all []fwk.NodeInfo, ans *answer) ([]fwk.NodeInfo, error) {
	left := all
	skipped := false
	if point, ok := plugin.(fwk.PreFilterPlugin); ok {
		result, code := point.PreFilter(ctx, state, q.Pod, all)
		ans.PreFilter = statusOf(code)
		skipped = code.IsSkip()
		if !code.IsSuccess() && !skipped {
			return nil, nil
		}
		if !result.AllNodes() {
			ans.NodeNames = slices.Sorted(slices.Values(result.NodeNames.UnsortedList()))
			left = slices.DeleteFunc(slices.Clone(all), func(node fwk.NodeInfo) bool {
				return !result.NodeNames.Has(node.Node().Name)
			})
		}
		if err := change(ctx, point.PreFilterExtensions(), skipped, state, q, snapshot); err != nil {
			return nil, err
		}
	}
	point, ok := plugin.(fwk.FilterPlugin)
	if !ok || skipped {
		return left, nil
	}
	ans.Filter = map[string]*status{}
	var fitting []fwk.NodeInfo
	for _, node := range left {
		if code := point.Filter(ctx, state, q.Pod, node); !code.IsSuccess() {
			ans.Filter[node.Node().Name] = statusOf(code)
		} else {
			fitting = append(fitting, node)
		}
	}
	return fitting, nil
}

// change adds pods to their nodes, removes others, and notifies the plugin.
func change(ctx context.Context, extensions fwk.PreFilterExtensions, skipped bool, state fwk.CycleState, q *question, snapshot *schedulercache.Snapshot) error {
	for _, pod := range q.Added {
		info, err := framework.NewPodInfo(pod)
		if err != nil {
			return err
		}
		node, err := snapshot.NodeInfos().Get(pod.Spec.NodeName)
		if err != nil {
			return err
		}
		node.AddPodInfo(info)
		if extensions == nil || skipped {
			continue
		}
		if code := extensions.AddPod(ctx, state, q.Pod, info, node); !code.IsSuccess() {
			return code.AsError()
		}
	}
	for _, uid := range q.Removed {
		index := slices.IndexFunc(q.Pods, func(pod *v1.Pod) bool { return string(pod.UID) == uid })
		if index < 0 {
			return fmt.Errorf("no pod of the question has the uid %s", uid)
		}
		info, err := framework.NewPodInfo(q.Pods[index])
		if err != nil {
			return err
		}
		node, err := snapshot.NodeInfos().Get(q.Pods[index].Spec.NodeName)
		if err != nil {
			return err
		}
		if err := node.RemovePod(klog.FromContext(ctx), q.Pods[index]); err != nil {
			return err
		}
		if extensions == nil || skipped {
			continue
		}
		if code := extensions.RemovePod(ctx, state, q.Pod, info, node); !code.IsSuccess() {
			return code.AsError()
		}
	}
	return nil
}

// score runs PreScore, Score and NormalizeScore for the remaining nodes.
func score(ctx context.Context, plugin fwk.Plugin, state fwk.CycleState, pod *v1.Pod, left []fwk.NodeInfo, ans *answer) {
	if point, ok := plugin.(fwk.PreScorePlugin); ok {
		code := point.PreScore(ctx, state, pod, left)
		ans.PreScore = statusOf(code)
		if !code.IsSuccess() {
			return
		}
	}
	point, ok := plugin.(fwk.ScorePlugin)
	if !ok {
		return
	}
	scores := make(fwk.NodeScoreList, len(left))
	for i, node := range left {
		points, code := scoreOf(ctx, point, state, pod, node)
		if !code.IsSuccess() {
			ans.Score = statusOf(code)
			return
		}
		scores[i] = fwk.NodeScore{Name: node.Node().Name, Score: points}
	}
	if normalizing := point.ScoreExtensions(); normalizing != nil {
		if code := normalizing.NormalizeScore(ctx, state, pod, scores); !code.IsSuccess() {
			ans.Score = statusOf(code)
			return
		}
	}
	ans.Scores = map[string]int64{}
	for _, node := range scores {
		ans.Scores[node.Name] = node.Score
	}
}

// scoreOf scores one node. It returns Error for a plugin that panics, which would end kube-scheduler.
func scoreOf(ctx context.Context, point fwk.ScorePlugin, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) (points int64, code *fwk.Status) {
	defer func() {
		if cause := recover(); cause != nil {
			code = fwk.AsStatus(fmt.Errorf("panic: %v", cause))
		}
	}()
	return point.Score(ctx, state, pod, node)
}
