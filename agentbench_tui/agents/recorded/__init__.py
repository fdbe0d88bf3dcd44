"""Agents whose answers are given beforehand."""
