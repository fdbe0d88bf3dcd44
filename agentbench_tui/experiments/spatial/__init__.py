"""Experiments on spatial structures: who is near a place?"""
